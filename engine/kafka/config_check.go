package kafka

import (
	"fmt"
	"math"
)

// Acks is the producer's acks as it is sent: −1 for all.
func (c *Config) Acks() int16 {
	switch c.String("acks") {
	case "0":
		return 0
	case "1":
		return 1
	}
	return -1
}

// IdempotenceEnabled follows ProducerConfig: on by default, silently off where
// acks or retries contradict it and the user did not ask for it (KIP-679).
func IdempotenceEnabled(c *Config) bool {
	if c.Overridden("enable.idempotence") {
		return c.Bool("enable.idempotence")
	}
	return c.Acks() == -1 && c.Int("retries") != 0
}

// CheckProducer finds settings that KafkaProducer refuses together
// (ProducerConfig.postProcessAndValidateIdempotenceConfigs,
// KafkaProducer.configureDeliveryTimeout). Where the user did not set
// delivery.timeout.ms, Kafka raises it instead of refusing.
func CheckProducer(c *Config) error {
	acks, _ := LookupConfig("producer", "acks")
	if a := c.String("acks"); acks.Check(a) != nil {
		return fmt.Errorf("acks is all, 1 or 0, not %q", a)
	}
	explicit := c.Overridden("enable.idempotence") && c.Bool("enable.idempotence")
	switch {
	case explicit && c.Acks() != -1:
		return fmt.Errorf("enable.idempotence=true needs acks=all")
	case explicit && c.Int("retries") == 0:
		return fmt.Errorf("enable.idempotence=true needs retries above 0")
	// Kafka looks at the setting, not at what becomes of it: acks=1 switches
	// idempotence off, but not this check.
	case c.Bool("enable.idempotence") && c.Int("max.in.flight.requests.per.connection") > 5:
		return fmt.Errorf("max.in.flight.requests.per.connection is at most 5 with an idempotent producer; set it to 5 or enable.idempotence to false")
	case c.Overridden("transactional.id") && !IdempotenceEnabled(c):
		return fmt.Errorf("transactional.id needs an idempotent producer: acks=all, retries above 0 and enable.idempotence not false")
	case c.Overridden("delivery.timeout.ms") && c.Millis("delivery.timeout.ms") < leastDeliveryTimeout(c):
		return fmt.Errorf("delivery.timeout.ms must be at least linger.ms + request.timeout.ms")
	}
	return nil
}

// leastDeliveryTimeout is in milliseconds. Kafka caps it because
// delivery.timeout.ms is an INT while linger.ms is a LONG.
func leastDeliveryTimeout(c *Config) int64 {
	return min(min(c.Millis("linger.ms"), math.MaxInt32)+c.Millis("request.timeout.ms"), math.MaxInt32)
}
