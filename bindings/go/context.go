package netlib

import (
	"context"
	"sync"
	"time"
)

// LimitFromContext returns a limit that ends with the context. Call stop when the limit is no longer used.
func LimitFromContext(ctx context.Context) (limit *Limit, stop func(), err error) {
	seconds := TimeoutNone()
	if deadline, ok := ctx.Deadline(); ok {
		seconds = time.Until(deadline).Seconds()
		if seconds < 0 {
			seconds = 0
		}
	}
	if limit, err = NewLimit(seconds, nil); err != nil {
		return nil, nil, err
	}
	stopped, cancelled := make(chan struct{}), limit.Clone()
	go func() {
		defer cancelled.Close()
		select {
		case <-ctx.Done():
			cancelled.Cancel()
		case <-stopped:
		}
	}()
	var once sync.Once
	return limit, func() { once.Do(func() { close(stopped) }) }, nil
}
