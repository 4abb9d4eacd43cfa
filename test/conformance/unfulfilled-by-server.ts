/** Scenarios about what our server does not offer: sampling, roots, logging, files, tools with headers or images of their own. */
export const notOffered = new Set([
  'completion-complete',
  'http-custom-header-server-validation',
  'input-required-result-basic-list-roots',
  'input-required-result-basic-sampling',
  'input-required-result-multiple-input-requests',
  'input-required-result-non-tool-request',
  'logging-set-level',
  'prompts-get-embedded-resource',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-with-image',
  'resources-read-binary',
  'resources-read-text',
  'resources-subscribe',
  'resources-templates-read',
  'resources-unsubscribe',
  'sep-2640-skills-directory',
  'sep-2640-skills-enumeration',
  'sep-2640-skills-manifest',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-image',
  'tools-call-mixed-content',
  'tools-call-sampling',
  'tools-call-with-logging',
]);

/**
 * What the suite complains of for a reason that is its own: in its words, which say that the rule behind the check is kept, and
 * the reason as readers get it.
 */
export const unfulfilledByServer = new Map<string, { complaints: string[]; why: string }>([
  [
    'server-stateless',
    {
      complaints: [
        "sep-2575-server-rejects-undeclared-capability: Not testable: server does not list the diagnostic tool 'test_missing_capability' in tools/list and the probe call did not exercise it (required for the undeclared-capability rejection)",
        "sep-2575-missing-capability-http-400: Not testable: server does not list the diagnostic tool 'test_missing_capability' in tools/list, so the -32021 HTTP status could not be validated",
      ],
      why: 'two checks need a tool that cannot do without sampling, which this revision deprecates; where there is none, the suite calls itself unable to test',
    },
  ],
  [
    'tasks-required-task-error',
    {
      complaints: [
        'sep-2663-server-returns-missing-capability-when-required: tools/call for failing_job returned a successful response from a client that did not declare io.modelcontextprotocol/tasks; spec requires -32021 rejection in this case.',
      ],
      why: 'the specification wants the error of servers that cannot serve a call without a task; the suite takes it that there is such a tool. Every tool here works without',
    },
  ],
  [
    'input-required-result-capability-check',
    {
      complaints: [
        'sep-2322-respect-client-capabilities: Server returned complete result; expected InputRequiredResult with sampling-only inputRequests',
      ],
      why: 'the rule is that nothing undeclared is asked, and nothing is: the question goes in words. The suite only counts servers that sample instead, which this revision deprecates',
    },
  ],
]);
