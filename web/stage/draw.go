package stage

import (
	"context"
	"strings"
)

// Draw places a spec and draws it with the values of one moment.
func Draw(s Spec, state State) (string, error) {
	var b strings.Builder
	err := Drawing(Place(s), Pen{state}).Render(context.Background(), &b)
	return b.String(), err
}
