/** The rules of `interlude lint-server`: severity, clause of the specification, remedy. */
import { clauses } from '../call/fault.ts';
import type { Clause } from '../call/fault.ts';

/** `error`: the specification forbids it. `warning`: it is allowed or discouraged, and clients have trouble with it. */
export type Level = 'error' | 'warning';

export interface Rule {
  level: Level;
  clause: Clause;
  /** One sentence for the author of the server. */
  remedy: string;
}

const site = 'https://modelcontextprotocol.io/specification';
const elicitation = `${site}/2026-07-28/client/elicitation`;
const oldElicitation = `${site}/2025-11-25/client/elicitation`;
const rounds = `${site}/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow`;

const declines: Clause = {
  text: 'servers must handle users who decline or cancel (Elicitation, Error Handling)',
  url: `${elicitation}#error-handling`,
};
const completes: Clause = {
  text: 'a server may say that a page is done, with the elicitationId of the question (Elicitation, Completion Notifications)',
  url: `${oldElicitation}#completion-notifications-for-url-mode-elicitation`,
};
const safeUrls = (text: string): Clause => ({
  text: `${text} (Elicitation, Safe URL Handling)`,
  url: `${elicitation}#safe-url-handling`,
});

export const rules = {
  'nested-schema': {
    level: 'error',
    clause: clauses.requestedSchema,
    remedy: 'Ask for flat fields, and for more in a second question.',
  },
  'schema-leftover': {
    level: 'warning',
    clause: clauses.requestedSchema,
    remedy: 'Leave it out, or write it in the words of the current version.',
  },
  'secret-in-form': {
    level: 'error',
    clause: {
      text: 'servers must not ask for secrets in a form, and must use a url for them (Elicitation, Form Mode Security)',
      url: `${elicitation}#form-mode-security`,
    },
    remedy: 'Ask for it on a page of yours, with mode "url": forms pass through clients and models.',
  },
  'link-in-form': {
    level: 'warning',
    clause: safeUrls('forms should hold no links to be clicked'),
    remedy: 'Send the link as a question of mode "url".',
  },
  'url-invalid': {
    level: 'error',
    clause: clauses.url,
    remedy: 'Send a complete address that begins with https://, percent-encoded.',
  },
  'url-not-https': {
    level: 'warning',
    clause: safeUrls('urls should be https'),
    remedy: 'Serve the page over https; plain http is for this machine only.',
  },
  'url-with-credentials': {
    level: 'error',
    clause: safeUrls('a url must hold no credentials, and must not be one that is signed in already'),
    remedy:
      'Put a reference into the url that is worth nothing to others, and let people sign in on the page.',
  },
  'url-with-personal-data': {
    level: 'error',
    clause: safeUrls('a url must hold nothing personal'),
    remedy: 'Put a reference into the url, and keep its meaning at the server.',
  },
  'url-looks-wrong': {
    level: 'warning',
    clause: safeUrls('clients warn of ambiguous urls'),
    remedy: 'Use a host that people know by its name.',
  },
  'missing-elicitation-id': {
    level: 'error',
    clause: clauses.elicitationId,
    remedy: 'Give each url question an elicitationId of its own: without one most clients refuse it.',
  },
  'missing-completion': {
    level: 'warning',
    clause: completes,
    remedy: 'Send notifications/elicitation/complete when the page is done: clients wait for it.',
  },
  'unknown-completion': {
    level: 'error',
    clause: completes,
    remedy: 'Send the elicitationId of the question whose page is done.',
  },
  'wrong-era': {
    level: 'warning',
    clause: {
      text: 'elicitationId, notifications/elicitation/complete and the error -32042 are gone since 2026-07-28, and resultType is new in it (Elicitation)',
      url: elicitation,
    },
    remedy: 'Send each client what its version knows.',
  },
  'asks-in-other-era': {
    level: 'error',
    clause: clauses.noServerRequests,
    remedy:
      'Ask in both ways: return input_required to clients of 2026-07-28, and send elicitation/create to older ones. Or offer only the version in which the tool asks.',
  },
  'unstable-keys': {
    level: 'warning',
    clause: {
      text: 'keys of inputRequests are identifiers that the server gives (Multi Round-Trip Requests, Core Types)',
      url: clauses.inputRequests.url,
    },
    remedy:
      'Name a question alike in each call: files of answers and clients that call again find it by its key.',
  },
  'unstable-state': {
    level: 'warning',
    clause: {
      text: 'a retry is self-contained (Multi Round-Trip Requests, Basic Workflow)',
      url: `${site}/2026-07-28/basic/patterns/mrtr#basic-workflow`,
    },
    remedy:
      'Put all that is needed into requestState, signed by a key that all your processes share: clients call again when a connection breaks.',
  },
  'state-unprotected': {
    level: 'warning',
    clause: {
      text: 'state that decides anything must be protected, and refused when it was changed (Multi Round-Trip Requests, Server Requirements)',
      url: rounds,
    },
    remedy: 'Sign it, unless nothing depends on it.',
  },
  'no-decline-path': {
    level: 'error',
    clause: declines,
    remedy: 'End the call with a result that says what was not done.',
  },
  'decline-ignored': {
    level: 'warning',
    clause: declines,
    remedy: 'Look at "action" before anything is done: content comes with "accept" only.',
  },
  'stray-output': {
    level: 'error',
    clause: clauses.strayOutput,
    remedy: 'Write logs to standard error: most clients break off at such a line.',
  },
  'tool-list': {
    level: 'error',
    clause: clauses.toolList,
    remedy: 'Clients leave such a tool out, or call another one.',
  },
} satisfies Record<string, Rule>;

/** `protocol`: any other fault of the call, with its own clause. */
export type RuleName = keyof typeof rules | 'protocol';

export interface Finding {
  rule: RuleName;
  level: Level;
  tool: string;
  /** The message of the question, if the finding is about one. */
  question?: string;
  /** One sentence. */
  message: string;
  remedy?: string;
  clause: Clause;
}

/** An observation about a tool, before it becomes a finding. */
export interface Seen {
  rule: keyof typeof rules;
  question?: string;
  message: string;
}

export function toFinding(tool: string, { rule, ...seen }: Seen): Finding {
  const { level, clause, remedy } = rules[rule];
  return { rule, level, tool, ...seen, remedy, clause };
}
