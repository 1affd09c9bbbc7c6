package uploads

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	scaling "github.com/aws/aws-cdk-go/awscdk/v2/awsapplicationautoscaling"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecrassets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"lectern/infra/function"
	"lectern/infra/stack"
)

const (
	// processor is a quarter of a processor, in parts of 1,024, and memory is in MB: a server with ten forms of
	// 50 MB at once needs about 80.
	processor, memory = 256, 512
	// fewest and most are the numbers of tasks, and busy the use of processors in percent, above which tasks are
	// added.
	fewest, most, busy = 1, 4, 60
	// startSeconds is the time after which the health of a new task counts.
	startSeconds = 30
	// user is the number of a user without a name or rights.
	user = "65532:65532"
)

// addTasks creates the cluster with the tasks that run the server. A deployment whose tasks do not become healthy
// is rolled back.
func (s *service) addTasks() {
	cluster := awsecs.NewCfnCluster(s.Scope, jsii.String("Cluster"), &awsecs.CfnClusterProps{ClusterName: jsii.String(s.name())})
	stack.Accept(cluster, "AwsSolutions-ECS4", "The alarms watch the load balancer, and scaling the processors; more metrics cost "+
		"and tell no more.")
	tasks := awsecs.NewCfnService(s.Scope, jsii.String("Service"), &awsecs.CfnServiceProps{
		ServiceName: jsii.String(s.name()), Cluster: cluster.Ref(), TaskDefinition: s.taskDefinition().Ref(),
		LaunchType: jsii.String("FARGATE"), PropagateTags: jsii.String("SERVICE"), EnableEcsManagedTags: true,
		// Scaling changes the number, so the template has none.
		DeploymentConfiguration: &awsecs.CfnService_DeploymentConfigurationProperty{
			MinimumHealthyPercent: jsii.Number(100), MaximumPercent: jsii.Number(200),
			DeploymentCircuitBreaker: &awsecs.CfnService_DeploymentCircuitBreakerProperty{Enable: true, Rollback: true},
		},
		HealthCheckGracePeriodSeconds: jsii.Number(startSeconds),
		NetworkConfiguration: &awsecs.CfnService_NetworkConfigurationProperty{
			AwsvpcConfiguration: &awsecs.CfnService_AwsVpcConfigurationProperty{
				AssignPublicIp: jsii.String("ENABLED"), Subnets: &s.open, SecurityGroups: &[]*string{s.behind.AttrGroupId()},
			},
		},
		LoadBalancers: &[]any{&awsecs.CfnService_LoadBalancerProperty{
			ContainerName: jsii.String(Name), ContainerPort: jsii.Number(taskPort), TargetGroupArn: s.targets.Ref(),
		}},
	})
	tasks.AddResourceDependency(s.listener, jsii.String("ECS asks for a target group with a load balancer."))
	tasks.AddResourceDependency(s.gateway, jsii.String("Tasks call AWS when they start."))
	number := scaling.NewCfnScalableTarget(s.Scope, jsii.String("Number"), &scaling.CfnScalableTargetProps{
		ServiceNamespace: jsii.String("ecs"), ScalableDimension: jsii.String("ecs:service:DesiredCount"),
		ResourceId: jsii.String("service/" + s.name() + "/" + s.name()), MinCapacity: jsii.Number(fewest), MaxCapacity: jsii.Number(most),
	})
	number.AddResourceDependency(tasks, jsii.String("The service must be there."))
	scaling.NewCfnScalingPolicy(s.Scope, jsii.String("Scaling"), &scaling.CfnScalingPolicyProps{
		PolicyName: jsii.String(s.name()), PolicyType: jsii.String("TargetTrackingScaling"), ScalingTargetId: number.Ref(),
		TargetTrackingScalingPolicyConfiguration: &scaling.CfnScalingPolicy_TargetTrackingScalingPolicyConfigurationProperty{
			TargetValue: jsii.Number(busy), ScaleInCooldown: jsii.Number(300), ScaleOutCooldown: jsii.Number(60),
			PredefinedMetricSpecification: &scaling.CfnScalingPolicy_PredefinedMetricSpecificationProperty{
				PredefinedMetricType: jsii.String("ECSServiceAverageCPUUtilization"),
			},
		},
	})
}

// taskDefinition describes a task: the server with the role and the variables of the function.
func (s *service) taskDefinition() awsecs.CfnTaskDefinition {
	image := awsecrassets.NewDockerImageAsset(s.Scope, jsii.String("Image"), &awsecrassets.DockerImageAssetProps{
		Directory: jsii.String(filepath.Join(s.Binaries, Name)), Platform: s.platform(),
	})
	log := s.Log(Name)
	task := awsecs.NewCfnTaskDefinition(s.Scope, jsii.String("Task"), &awsecs.CfnTaskDefinitionProps{
		Family: jsii.String(s.name()), RequiresCompatibilities: jsii.Strings("FARGATE"), NetworkMode: jsii.String("awsvpc"),
		Cpu: jsii.String(strconv.Itoa(processor)), Memory: jsii.String(strconv.Itoa(memory)),
		RuntimePlatform: &awsecs.CfnTaskDefinition_RuntimePlatformProperty{
			CpuArchitecture: jsii.String(s.architecture()), OperatingSystemFamily: jsii.String("LINUX"),
		},
		TaskRoleArn:      function.NewTaskRole(s.Stack, s.Spec, Name).RoleArn(),
		ExecutionRoleArn: s.startRole(image, log).RoleArn(),
		ContainerDefinitions: &[]any{&awsecs.CfnTaskDefinition_ContainerDefinitionProperty{
			Name: jsii.String(Name), Image: image.ImageUri(), Essential: true, User: jsii.String(user), ReadonlyRootFilesystem: true,
			StopTimeout:  jsii.Number(lastSeconds),
			PortMappings: &[]any{&awsecs.CfnTaskDefinition_PortMappingProperty{ContainerPort: jsii.Number(taskPort)}},
			Environment:  s.variables(),
			LinuxParameters: &awsecs.CfnTaskDefinition_LinuxParametersProperty{
				Capabilities: &awsecs.CfnTaskDefinition_KernelCapabilitiesProperty{Drop: jsii.Strings("ALL")},
			},
			LogConfiguration: &awsecs.CfnTaskDefinition_LogConfigurationProperty{
				LogDriver: jsii.String("awslogs"), Options: map[string]*string{
					"awslogs-group": log.LogGroupName(), "awslogs-region": &s.Region.AWSRegion, "awslogs-stream-prefix": jsii.String(s.name()),
				},
			},
		}},
	})
	stack.Accept(task, "AwsSolutions-ECS2", "The variables have names of parts of the region, and no secret.")
	return task
}

// variables returns the variables of the server: the variables of the function, and the port and the stage.
func (s *service) variables() *[]any {
	all := function.TaskEnvironment(s.Stack, s.Spec, memory)
	all["AWS_REGION"], all["LECTERN_PORT"] = &s.Region.AWSRegion, jsii.String(strconv.Itoa(taskPort))
	if s.Region.Domain == nil {
		all["LECTERN_STAGE"] = &s.Config.Stage
	}
	var pairs []any
	for _, name := range slices.Sorted(maps.Keys(all)) {
		pairs = append(pairs, &awsecs.CfnTaskDefinition_KeyValuePairProperty{Name: &name, Value: all[name]})
	}
	return &pairs
}

// startRole creates the role by which ECS starts a task, takes the image and writes the log.
func (s *service) startRole(image awsecrassets.DockerImageAsset, log awslogs.LogGroup) awsiam.Role {
	role := awsiam.NewRole(s.Scope, jsii.String("Role-start"), &awsiam.RoleProps{
		RoleName:    jsii.String(s.name() + "-start"),
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("ecs-tasks.amazonaws.com"), nil),
		Description: jsii.String("How ECS starts the tasks " + s.name()),
		InlinePolicies: &map[string]awsiam.PolicyDocument{
			"image": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &[]awsiam.PolicyStatement{
				allow(jsii.String("*"), "ecr:GetAuthorizationToken"),
				allow(image.Repository().RepositoryArn(), "ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"),
			}}),
			"log": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &[]awsiam.PolicyStatement{
				allow(log.LogGroupArn(), "logs:CreateLogStream", "logs:PutLogEvents"),
			}}),
		},
	})
	stack.Accept(role, stack.RuleWildcards, "AWS knows no resource of the token for images.", "Resource::*")
	return role
}

// allow returns a statement that allows actions on a resource.
func allow(on *string, actions ...string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: jsii.Strings(actions...), Resources: &[]*string{on}})
}

// platform returns the platform of the image.
func (s *service) platform() awsecrassets.Platform {
	if s.Config.Arch == "x86_64" {
		return awsecrassets.Platform_LINUX_AMD64()
	}
	return awsecrassets.Platform_LINUX_ARM64()
}

// architecture returns the processor as ECS names it.
func (s *service) architecture() string {
	if s.Config.Arch == "x86_64" {
		return "X86_64"
	}
	return "ARM64"
}
