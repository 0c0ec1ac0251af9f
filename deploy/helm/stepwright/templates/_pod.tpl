{{/* The pod of a node, for the Deployment and the StatefulSet. */}}
{{- define "stepwright.pod" -}}
metadata:
  labels:
    {{- include "stepwright.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  # preStop (5 s), the grace of the server, and a margin.
  terminationGracePeriodSeconds: {{ add 20 (div (int .Values.shutdownGraceMs) 1000) }}
  {{- with .Values.image.pullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    seccompProfile: { type: RuntimeDefault }
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "stepwright.selector" . | nindent 10 }}
  containers:
    - name: stepwright
      image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      ports:
        - { name: http, containerPort: 5001 }
      env:
        {{- include "stepwright.variable" (dict "name" "auth" "value" .Values.auth.enabled) | nindent 8 }}
        {{- with .Values.auth.issuer }}
        {{- include "stepwright.variable" (dict "name" "issuer" "value" .) | nindent 8 }}
        {{- end }}
        {{- with .Values.auth.audience }}
        {{- include "stepwright.variable" (dict "name" "auth_audience" "value" .) | nindent 8 }}
        {{- end }}
        {{- with .Values.auth.clientId }}
        {{- include "stepwright.variable" (dict "name" "auth_client_id" "value" .) | nindent 8 }}
        {{- end }}
        {{- include "stepwright.variable" (dict "name" "SHUTDOWN_GRACE_MS" "value" (int .Values.shutdownGraceMs)) | nindent 8 }}
        {{- if .Values.secrets }}
        {{- include "stepwright.variable" (dict "name" "secrets_dir" "value" "/secrets/stepwright") | nindent 8 }}
        {{- end }}
        {{- range $name, $value := .Values.settings }}
        {{- include "stepwright.variable" (dict "name" $name "value" $value) | nindent 8 }}
        {{- end }}
        {{- with .Values.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- if or (eq .Values.store.kind "external") (and .Values.auth.enabled (not .Values.auth.issuer)) }}
      envFrom:
        - secretRef: { name: {{ .Values.store.secret }} }
      {{- end }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        - { name: data, mountPath: /data }
        {{- if eq (include "stepwright.hasPassword" .) "true" }}
        - { name: postgres, mountPath: /secrets/postgres, readOnly: true }
        {{- end }}
        {{- if .Values.secrets }}
        - { name: secrets, mountPath: /secrets/stepwright, readOnly: true }
        {{- end }}
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      startupProbe:
        httpGet: { path: /health/live, port: http }
        periodSeconds: 2
        failureThreshold: 30
      # Must not depend on the store: restarting a node does not bring its database back.
      livenessProbe:
        httpGet: { path: /health/live, port: http }
        periodSeconds: 10
        timeoutSeconds: 3
        failureThreshold: 3
      readinessProbe:
        httpGet: { path: /health/ready, port: http }
        periodSeconds: 3
        timeoutSeconds: 2
        failureThreshold: 2
      lifecycle:
        preStop:
          # The node keeps serving while load balancers remove it; SIGTERM closes its port immediately.
          sleep: { seconds: 5 }
  volumes:
    - { name: tmp, emptyDir: {} }
    {{- if eq .Values.store.kind "external" }}
    - { name: data, emptyDir: {} }
    {{- end }}
    {{- if eq (include "stepwright.hasPassword" .) "true" }}
    - name: postgres
      secret: { secretName: {{ .Values.store.passwordSecret }}, optional: true }
    {{- end }}
    {{- with .Values.secrets }}
    - name: secrets
      secret: { secretName: {{ . }}, optional: true }
    {{- end }}
{{- end -}}

{{- define "stepwright.hasPassword" -}}
{{- and (eq .Values.store.kind "external") (ne .Values.store.passwordSecret "") -}}
{{- end -}}
