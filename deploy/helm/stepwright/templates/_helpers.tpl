{{/* The name of all objects: the release's, or both names if they differ. */}}
{{- define "stepwright.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What selects the pods. */}}
{{- define "stepwright.selector" -}}
app: {{ include "stepwright.name" . }}
{{- end -}}

{{- define "stepwright.labels" -}}
{{ include "stepwright.selector" . }}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{/* One name and value of the environment. */}}
{{- define "stepwright.variable" -}}
- name: {{ .name }}
  value: {{ .value | toString | quote }}
{{- end -}}
