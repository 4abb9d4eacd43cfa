{{- define "interlude.name" -}}
{{- $own := contains "interlude" .Release.Name | ternary .Release.Name (printf "%s-interlude" .Release.Name) -}}
{{- .Values.fullnameOverride | default $own | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "interlude.selector" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default "interlude" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "interlude.labels" -}}
{{ include "interlude.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "interlude.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- define "interlude.agentsConfigMap" -}}
{{- .Values.agents.configMap.name | default (printf "%s-agents" (include "interlude.name" .)) }}
{{- end }}

{{/* Under the Worker Controller this is the name that it gives to workers. */}}
{{- define "interlude.deployment" -}}
{{- if .Values.workerController.enabled }}{{ .Release.Namespace }}/{{ include "interlude.name" . }}-worker
{{- else }}{{ .Values.temporal.taskQueue }}{{ end }}
{{- end }}

{{/* A pod of a process. In: root, process (api, worker, migrate), command. */}}
{{- define "interlude.pod" -}}
{{- $root := .root }}
{{- $isService := ne .process "migrate" }}
{{- $isControlled := and (eq .process "worker") $root.Values.workerController.enabled }}
{{- $own := $isService | ternary (index $root.Values .process) dict }}
metadata:
  labels:
    {{- include "interlude.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .process }}
  {{- if $isService }}
  annotations:
    # Another agents file needs new processes.
    checksum/agents: {{ $root.Values.agents.text | sha256sum }}
    {{- with $own.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  {{- with $root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    seccompProfile: { type: RuntimeDefault }
  {{- if $isService }}
  # 20 seconds more than SHUTDOWN_GRACE_PERIOD, and those in which endpoints are removed.
  terminationGracePeriodSeconds: {{ add $root.Values.shutdownGraceSeconds 25 }}
  {{- else }}
  restartPolicy: Never
  {{- end }}
  containers:
    - name: {{ .process }}
      image: {{ include "interlude.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      command: {{ toJson .command }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      env:
        - { name: INTERLUDE_CONFIG, value: /etc/interlude/agents/agents.yaml }
        - { name: INTERLUDE_DATA, value: /tmp/interlude }
        - { name: PUBLIC_URL, value: {{ $root.Values.publicUrl | quote }} }
        - { name: HOST, value: 0.0.0.0 }
        - { name: PORT, value: "3000" }
        - { name: INTERNAL_HOST, value: 0.0.0.0 }
        - { name: INTERNAL_PORT, value: "3100" }
        - { name: SHUTDOWN_GRACE_PERIOD, value: {{ $root.Values.shutdownGraceSeconds }}s }
        - { name: AUTH_ISSUER, value: {{ $root.Values.auth.issuer | quote }} }
        - { name: AUTH_CLIENT_ID, value: {{ $root.Values.auth.clientId | quote }} }
        - { name: TEMPORAL_TASK_QUEUE, value: {{ $root.Values.temporal.taskQueue | quote }} }
        {{- if not $isControlled }}
        # The Worker Controller sets these itself.
        - { name: TEMPORAL_ADDRESS, value: {{ $root.Values.temporal.address | quote }} }
        - { name: TEMPORAL_NAMESPACE, value: {{ $root.Values.temporal.namespace | quote }} }
        - { name: TEMPORAL_DEPLOYMENT_NAME, value: {{ include "interlude.deployment" $root | quote }} }
        {{- end }}
        {{- $metrics := ternary (dict "OTEL_METRICS_EXPORTER" "prometheus") dict $root.Values.serviceMonitor.enabled }}
        {{- range $name, $value := merge dict $root.Values.settings $metrics }}
        - { name: {{ $name }}, value: {{ $value | toString | quote }} }
        {{- end }}
        {{- range $name, $_ := $isControlled | ternary (omit $root.Values.secrets "TEMPORAL_API_KEY") $root.Values.secrets }}
        - { name: {{ $name }}_FILE, value: /etc/interlude/secrets/{{ $name }} }
        {{- end }}
      {{- if $isService }}
      ports:
        {{- if eq .process "api" }}
        - { name: http, containerPort: 3000 }
        {{- end }}
        - { name: internal, containerPort: 3100 }
      # Whether it runs. Without its database a process waits, and a restart does not help.
      livenessProbe:
        httpGet: { path: /healthz, port: internal }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      startupProbe:
        httpGet: { path: /healthz, port: internal }
        periodSeconds: 2
        failureThreshold: 60
      readinessProbe:
        httpGet: { path: /readyz, port: internal }
        periodSeconds: 5
        timeoutSeconds: 5
      {{- if eq .process "api" }}
      # Requests arrive until every node knows that this pod ends.
      lifecycle: { preStop: { exec: { command: [sleep, "5"] } } }
      {{- end }}
      {{- with $own.resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- end }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        - { name: secrets, mountPath: /etc/interlude/secrets, readOnly: true }
        {{- if $isService }}
        - { name: agents, mountPath: /etc/interlude/agents, readOnly: true }
        {{- end }}
        {{- with $root.Values.volumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - { name: tmp, emptyDir: {} }
    - name: secrets
      projected:
        sources:
          {{- range $name, $from := $root.Values.secrets }}
          - secret: { name: {{ $from.name }}, items: [{ key: {{ $from.key }}, path: {{ $name }} }] }
          {{- end }}
    {{- if $isService }}
    - name: agents
      configMap:
        name: {{ include "interlude.agentsConfigMap" $root }}
        items: [{ key: {{ ternary $root.Values.agents.configMap.key "agents.yaml" (ne $root.Values.agents.configMap.name "") }}, path: agents.yaml }]
    {{- end }}
    {{- with $root.Values.volumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $own.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $own.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $own.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
