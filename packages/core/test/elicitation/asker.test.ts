import { describe, expect, test } from 'vitest';
import { askerTitle, isWaitingFor, whoAsks } from '../../src/elicitation/elicitation.ts';

test.each([
  [{ agent: 'Assistant' }, ['Assistant']],
  [{ agent: 'Researcher', path: ['researcher'] }, ['Researcher']],
  [{ agent: 'Archivist', path: ['researcher', 'archivist'] }, ['researcher', 'Archivist']],
  [{ path: ['researcher'] }, ['researcher']],
  [{}, []],
])('an agent that asks is named once: %o', (context, names) => {
  expect(whoAsks(context)).toEqual(names);
});

test.each([
  [{ serverTitle: 'Tracker', server: 'tracker', agent: 'Assistant' }, 'Tracker'],
  [{ server: 'tracker', agent: 'Assistant' }, 'tracker'],
  [{ agent: 'Assistant' }, 'Assistant'],
  [{}, undefined],
])('a question is its server’s, else its agent’s: %o', (context, title) => {
  expect(askerTitle(context)).toBe(title);
});

describe('a tool call waits', () => {
  const call = { toolCallId: 'c1', toolName: 'tracker__list_issues' };

  test.each([
    ['for the question that names it', { trigger: 'approval', toolCallId: 'c1' }],
    [
      'for the account of its server, whichever call asked first',
      { trigger: 'credential_required', server: 'tracker', toolCallId: 'c0' },
    ],
    ['for the account of its server, of no call', { trigger: 'credential_required', server: 'tracker' }],
  ])('%s', (_, context) => {
    expect(isWaitingFor(context, call)).toBe(true);
  });

  test.each([
    [
      'for what another call of its server is asked',
      { trigger: 'mcp_elicitation', server: 'tracker', toolCallId: 'c0' },
    ],
    ['for the account of another server', { trigger: 'credential_required', server: 'track' }],
    ['for a question that has no call', { trigger: 'model_question' }],
  ])('not %s', (_, context) => {
    expect(isWaitingFor(context, call)).toBe(false);
  });
});
