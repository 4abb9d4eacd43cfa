/** Scenarios about what our server does not offer: sampling, roots, files, tools with headers or images of their own. */
export const notOffered = new Set([
  'completion-complete',
  'http-custom-header-server-validation',
  'input-required-result-basic-list-roots',
  'input-required-result-basic-sampling',
  'input-required-result-multiple-input-requests',
  'input-required-result-non-tool-request',
  'json-schema-2020-12',
  'prompts-get-embedded-resource',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-with-image',
  'resources-read-binary',
  'resources-read-text',
  'resources-templates-read',
  'sep-2640-skills-directory',
  'sep-2640-skills-enumeration',
  'sep-2640-skills-manifest',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-image',
  'tools-call-mixed-content',
]);

/** What the suite complains of and what stays as it is. Its checks, and the reason as readers get it. */
export const unfulfilledByServer = new Map<string, { checks: string[]; why: string }>([
  [
    'server-stateless',
    {
      checks: [
        'sep-2575-server-rejects-undeclared-capability',
        'sep-2575-missing-capability-http-400',
        'sep-2575-http-server-no-independent-requests-on-stream',
        'sep-2575-server-no-log-without-loglevel',
      ],
      why: 'these look for a diagnostic tool of the suite that cannot do without a capability; none of ours needs one, because questions also travel in words',
    },
  ],
  [
    'input-required-result-capability-check',
    {
      checks: ['sep-2322-respect-client-capabilities'],
      why: 'wants a client that does not show forms to be sampled instead; Interlude never samples and hands the question to its model',
    },
  ],
  [
    'input-required-result-ignore-extra-params',
    {
      checks: ['sep-2322-ignore-unexpected-params'],
      why: 'answers without the state that says which turn asked; a call without a state is a new one, and asks anew',
    },
  ],
  [
    'tasks-lifecycle',
    {
      checks: ['sep-2663-tasks-get-status-failed'],
      why: 'wants a tool that breaks with a protocol error; a turn that fails is a tool error with words',
    },
  ],
  [
    'tasks-required-task-error',
    {
      checks: ['sep-2663-server-returns-missing-capability-when-required'],
      why: 'wants a tool that only works as a task; every tool here works without',
    },
  ],
]);
