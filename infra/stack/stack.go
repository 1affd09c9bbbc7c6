// Package stack makes the stacks of a region, and the parts that several subjects of a
// stack need: outputs, logs and accepted findings.
package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsssm"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/config"
)

// Stack is a stack of a region with the configuration that the resources in the stack
// depend on.
type Stack struct {
	// Scope is the stack itself; resources are created in it.
	Scope  awscdk.Stack
	Config *config.Config
	Region config.Region
	// parameters has the parameters of the template, by their ids.
	parameters map[string]awscdk.CfnParameter
}

// Kind describes a stack.
type Kind struct {
	// Name ends the stack's name: State, Uploads or Service.
	Name, Description string
	// Protected refuses to delete the stack.
	Protected bool
}

// New creates a stack of a region.
func New(app awscdk.App, c *config.Config, region config.Region, kind Kind) *Stack {
	env := &awscdk.Environment{Region: &region.AWSRegion}
	if c.Account != "" {
		env.Account = &c.Account
	}
	tags := map[string]*string{}
	for key, value := range c.Tags {
		tags[key] = &value
	}
	scope := awscdk.NewStack(app, jsii.String("Lectern-"+region.Name+"-"+kind.Name), &awscdk.StackProps{
		Env: env, Description: &kind.Description, TerminationProtection: &kind.Protected,
		// CloudFormation copies a stack's tags to resources that the CDK cannot tag.
		Tags: &tags,
		// The template has every route, and may have a million bytes.
		SuppressTemplateIndentation: jsii.Bool(true),
	})
	return &Stack{Scope: scope, Config: c, Region: region, parameters: map[string]awscdk.CfnParameter{}}
}

// TableARN returns the ARN of the table that the functions use.
func (s *Stack) TableARN() *string {
	return s.Scope.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("dynamodb"), Resource: jsii.String("table"), ResourceName: jsii.String(s.Region.Table()),
	})
}

// StreamARN returns the ARN of the stream of the table that the functions use.
func (s *Stack) StreamARN() *string {
	if s.Region.RestoredTable != "" {
		return &s.Region.RestoredStreamARN
	}
	return s.parameter("StreamArn", s.Region.StreamParameter(), "The parameter with the stream of the table")
}

// SecretARN returns the ARN of the secret that the keys of the region are derived from. The ARN ends
// with characters that AWS has chosen, so only the stack of state knows it.
func (s *Stack) SecretARN() *string {
	return s.parameter("KeysArn", s.Region.SecretParameter(), "The parameter with the secret of the region")
}

// BucketName returns the name of the bucket for bytes. All accounts share the names of buckets, so
// the name has account and AWS region.
func (s *Stack) BucketName() *string {
	return jsii.String(s.Region.Prefix() + "-files-" + *s.Scope.Account() + "-" + s.Region.AWSRegion)
}

// BucketARN returns the ARN of the bucket, for calls that name no object.
func (s *Stack) BucketARN() *string {
	return s.Scope.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("s3"), Region: jsii.String(""), Account: jsii.String(""), Resource: s.BucketName(),
	})
}

// ObjectsARN returns the ARN of the objects of a kind in the bucket, whose keys begin with the kind.
func (s *Stack) ObjectsARN(kind string) *string {
	return jsii.String(*s.BucketARN() + "/" + kind + "/*")
}

// JobsARN returns the ARN of the transcription jobs of the region.
func (s *Stack) JobsARN() *string {
	return s.Scope.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("transcribe"), Resource: jsii.String("transcription-job"), ResourceName: jsii.String(s.Region.Prefix() + "-*"),
	})
}

// ModelARN returns the ARN of the language model of the region, or of the inference profile in its place.
func (s *Stack) ModelARN() *string {
	m := s.Region.QueryModel
	if m.Profile() == "" {
		return s.foundationARN(m.AWSRegion)
	}
	return s.Scope.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("bedrock"), Region: &m.AWSRegion, Resource: jsii.String("inference-profile"), ResourceName: &m.ID,
	})
}

// ProfiledARN returns the ARN of the model behind the inference profile of the region, in each AWS region of the profile.
func (s *Stack) ProfiledARN() *string { return s.foundationARN(s.Region.QueryModel.Profile() + "-*") }

// foundationARN returns the ARN of the language model of the region in AWS regions.
func (s *Stack) foundationARN(awsRegion string) *string {
	return s.Scope.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("bedrock"), Region: &awsRegion, Account: jsii.String(""),
		Resource: jsii.String("foundation-model"), ResourceName: jsii.String(s.Region.QueryModel.Model()),
	})
}

// parameter returns the value of a parameter of Systems Manager that another stack writes.
// CloudFormation resolves the value at each deployment. A template may not have a parameter without
// a use, so the first use creates it.
func (s *Stack) parameter(id, name, description string) *string {
	if s.parameters[id] == nil {
		s.parameters[id] = awscdk.NewCfnParameter(s.Scope, &id, &awscdk.CfnParameterProps{
			Type: jsii.String("AWS::SSM::Parameter::Value<String>"), Default: &name, Description: &description,
		})
	}
	return s.parameters[id].ValueAsString()
}

// Publish puts a value into a parameter of Systems Manager, which another stack reads at each deployment. An
// export would tie the stacks, and a restored table could not replace the table.
func (s *Stack) Publish(id, name, description string, value *string) {
	awsssm.NewStringParameter(s.Scope, &id, &awsssm.StringParameterProps{
		ParameterName: &name, StringValue: value, Description: &description,
	})
}

// UploadOrigin returns the id and the host of the upload service, as CloudFront knows them.
func (s *Stack) UploadOrigin() (id, host *string) {
	return s.parameter("UploadOrigin", s.Region.UploadParameter("origin"), "The parameter with the origin of the upload service"),
		s.parameter("UploadHost", s.Region.UploadParameter("host"), "The parameter with the host of the upload service")
}

// Output shows a value to the operator after a deployment.
func (s *Stack) Output(name, description string, value *string) {
	awscdk.NewCfnOutput(s.Scope, &name, &awscdk.CfnOutputProps{Value: value, Description: &description})
}

// Log creates a log. The log is deleted with the stack: everything that must be kept is in the
// change records of the table. The class is not in the template, because CloudFormation cannot
// change the class of an existing log.
func (s *Stack) Log(name string) awslogs.LogGroup { return s.log(name, "") }

// CheapLog creates a log of the class for infrequent access, at half the price of a line. Metric
// filters cannot read the log; Logs Insights can.
func (s *Stack) CheapLog(name string) awslogs.LogGroup {
	return s.log(name, awslogs.LogGroupClass_INFREQUENT_ACCESS)
}

// log creates a log of a class; empty means the standard class.
func (s *Stack) log(name string, class awslogs.LogGroupClass) awslogs.LogGroup {
	log := awslogs.NewLogGroup(s.Scope, jsii.String("Log-"+name), &awslogs.LogGroupProps{
		LogGroupName:  jsii.String(s.Region.LogName(name)),
		LogGroupClass: class,
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
	log.Node().DefaultChild().(awslogs.CfnLogGroup).SetRetentionInDays(jsii.Number(s.Config.RetentionDays))
	return log
}
