package jsonrpc

import (
	"reflect"
	"strconv"
	"testing"
)

func TestABuiltRequestIsAsScanFindsIt(t *testing.T) {
	for n := range maxMembers + 2 {
		var params []Param
		for i := range n {
			params = append(params, Param{"k" + strconv.Itoa(i), []byte(`{"a":[1,"b"]}`)})
		}
		var built, scanned Message
		built.Build([]byte(`"1-x"`), "tools/call", params...)
		if err := Scan(built.Frame, &scanned); err != nil {
			t.Fatalf("%s: %v", built.Frame, err)
		}
		if n > maxMembers { // what is remembered of them does not count
			built.params, scanned.params = [maxMembers]Member{}, [maxMembers]Member{}
		}
		scanned.oneLine = false // Build does not look for line breaks
		if scanned.Template = built.Template; !reflect.DeepEqual(built, scanned) {
			t.Errorf("%s\nis built  %+v\nscanned as %+v", built.Frame, built, scanned)
		}
	}
}
