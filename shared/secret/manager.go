package secret

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

// leastKey is the shortest master key, in bytes.
const leastKey = 32

var (
	// ErrUnnamed reports that the configuration names no secret with a master key.
	ErrUnnamed = errors.New("secret: the configuration names no master key")
	// ErrShort reports a master key below leastKey.
	ErrShort = errors.New("secret: the master key is too short")
)

// Manager loads a master key from Secrets Manager. A Manager is safe for concurrent use.
type Manager struct {
	// Secret is the ARN or the name of the secret; empty if the function has no key.
	Secret string
	// Config loads the configuration of AWS; nil for that of the environment.
	Config func(context.Context) (aws.Config, error)
	mu     sync.Mutex
	key    []byte
}

// Load returns the master key. Load remembers the first success.
func (m *Manager) Load(ctx context.Context) ([]byte, error) {
	if m.Secret == "" {
		return nil, ErrUnnamed
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.key != nil {
		return m.key, nil
	}
	load := m.Config
	if load == nil {
		load = fromEnvironment
	}
	loaded, err := load(ctx)
	if err != nil {
		return nil, fmt.Errorf("secret: load AWS configuration: %w", err)
	}
	answer, err := secretsmanager.NewFromConfig(loaded).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &m.Secret})
	if err != nil {
		return nil, fmt.Errorf("secret: load the master key: %w", err)
	}
	key := []byte(aws.ToString(answer.SecretString))
	if len(key) < leastKey {
		return nil, ErrShort
	}
	m.key = key
	return key, nil
}

// fromEnvironment loads the configuration of the environment.
func fromEnvironment(ctx context.Context) (aws.Config, error) { return config.LoadDefaultConfig(ctx) }
