// Package kube reads and writes Kubernetes objects, and asks kube-scheduler's own plugins about them.
package kube

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
)

// Objects is a cluster, or a part of one, in the order of the input.
type Objects []runtime.Object

// Parse reads JSON or YAML documents, among them lists as kubectl prints them. Kinds that client-go does not know
// stay unstructured.
func Parse(data []byte) (Objects, error) {
	var objects Objects
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		var document runtime.RawExtension
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		if len(document.Raw) == 0 {
			continue
		}
		more, err := decode(document.Raw)
		if err != nil {
			return nil, err
		}
		objects = append(objects, more...)
	}
}

func decode(raw []byte) (Objects, error) {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
	if runtime.IsNotRegisteredError(err) {
		other := &unstructured.Unstructured{}
		err = other.UnmarshalJSON(raw)
		return Objects{other}, err
	}
	if err != nil {
		return nil, err
	}
	list, isList := object.(*v1.List)
	if !isList {
		return Objects{object}, nil
	}
	var objects Objects
	for i, item := range list.Items {
		more, err := decode(item.Raw)
		if err != nil {
			return nil, fmt.Errorf("items[%d]: %w", i, err)
		}
		objects = append(objects, more...)
	}
	return objects, nil
}

// JSON is the objects as one list, in the form that kubectl prints.
func (objects Objects) JSON() ([]byte, error) {
	list := v1.List{Items: []runtime.RawExtension{}}
	list.APIVersion, list.Kind = "v1", "List"
	for _, object := range objects {
		list.Items = append(list.Items, runtime.RawExtension{Object: named(object)})
	}
	return json.Marshal(list)
}

// named sets apiVersion and kind, which typed objects do not carry by themselves.
func named(object runtime.Object) runtime.Object {
	if kinds, _, err := scheme.Scheme.ObjectKinds(object); err == nil {
		object.GetObjectKind().SetGroupVersionKind(kinds[0])
	}
	return object
}

// Of is the objects of one type.
func Of[T runtime.Object](objects Objects) []T {
	var found []T
	for _, object := range objects {
		if typed, ok := object.(T); ok {
			found = append(found, typed)
		}
	}
	return found
}
