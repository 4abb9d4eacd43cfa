/** Working with Tracker, in the demo's few words of English. */
import type { Rule, ToolOutcome } from '../../src/models/scripted/script.ts';
import { toolRule } from '../../src/models/scripted/tool-rule.ts';

export const trackerAbility = [
  'List my open issues in Tracker.',
  'Show issue #1.',
  'Create an issue: Coffee machine is out of beans',
  'Comment on #1: I can reproduce this.',
  'Close #2.',
  'Who am I in Tracker?',
  'Give me an overview of the team’s work.',
];

const comment = toolRule({
  when: /\bcomment(?: on)?(?: issue)? #?(\d+)\s*[:,–-]?\s*(?:saying |with )?(\S.*)$/is,
  calls: ([, id, text = '']) => [
    { tool: 'tracker__comment_on_issue', input: { id: Number(id), text: unquoted(text) } },
  ],
  answer: ([outcome]) => `I added your comment to ${nameOf(outcome)}.`,
});

const close = toolRule({
  when: /\bclose\b.*?#?(\d+)/i,
  calls: ({ input }) => numbersIn(input).map((id) => ({ tool: 'tracker__close_issue', input: { id } })),
  answer: (outcomes) =>
    `Done: ${outcomes.map(nameOf).join(' and ')} ${outcomes.length > 1 ? 'are' : 'is'} closed.`,
});

const create = toolRule({
  when: /\b(?:create|file|add|make|open(?= an? ))\b(?: me)? (?:an? )?(?:new )?issue\b(?: in tracker)?\s*(?:called|named|titled|about|that says)?\s*[:,–-]?\s*(\S.*)$/is,
  calls: ([, words = '']) => {
    const [title = '', ...description] = unquoted(words).split('\n');
    return [{ tool: 'tracker__create_issue', input: { title, description: description.join('\n').trim() } }];
  },
  answer: ([outcome]) => `I created ${nameOf(outcome)}.`,
});

const createWhat: Rule = ({ userText }) =>
  /\b(create|file|add|make)\b.*\bissue\b/i.test(userText)
    ? { say: 'Gladly. What is it about? Say, for example: Create an issue: Coffee machine is out of beans' }
    : null;

const show = toolRule({
  when: /#(\d+)|\bissue (\d+)/i,
  calls: ({ input }) => numbersIn(input).map((id) => ({ tool: 'tracker__get_issue', input: { id } })),
  answer: (outcomes) => outcomes.map(detailsOf).join('\n\n'),
});

const whoAmI = toolRule({
  when: /\bwho am i\b/i,
  calls: () => [list('all', 'me')],
  answer: ([outcome]) => {
    const assignee = issuesIn(outcome)[0]?.assignee;
    return assignee === undefined
      ? 'You are connected to Tracker, but no issue there is yours, so I cannot tell your name.'
      : `In Tracker you are **${assignee}**.`;
  },
});

const openAndClosed = toolRule({
  when: /\bopen and\b.*\bclosed\b.*\bissues\b|\bissues\b.*\bopen and\b.*\bclosed\b/i,
  calls: ({ input }) => [list('open', whoseIn(input)), list('closed', whoseIn(input))],
  answer: (outcomes) => outcomes.map(listed).join('\n\n'),
});

const listIssues = toolRule({
  when: /\b(issues?|tickets?|to-?dos?)\b/i,
  calls: ({ input }) => [list(stateIn(input), whoseIn(input))],
  answer: ([outcome]) => listed(outcome),
});

const anOverview = /\boverview\b|\bwho (?:is working|works) on what\b/i;
const researcher = 'agent__researcher';

const delegated = toolRule({
  when: anOverview,
  calls: () => [{ tool: researcher, input: { task: 'Give an overview of who works on what in Tracker.' } }],
  answer: ([outcome]) => `The researcher says:\n\n${outcome?.text}`,
});

/** For the agent that has somebody to ask. */
const delegate: Rule = (conversation) =>
  conversation.tools.includes(researcher) ? delegated(conversation) : null;

const overview = toolRule({
  when: anOverview,
  calls: () => [list('all', 'anyone')],
  answer: ([outcome]) => overviewOf(issuesIn(outcome)),
});

/** What changes something comes first: its words may contain all the others. */
export const writeRules: Rule[] = [comment, create, createWhat, close];

export const readRules: Rule[] = [openAndClosed, whoAmI, show, delegate, overview, listIssues];

/* ---- reading the user -------------------------------------------------------------------------------- */

function list(state: string, assignee: string) {
  return { tool: 'tracker__list_issues', input: { state, assignee } };
}

function stateIn(text: string): string {
  if (/\b(closed|done|finished)\b/i.test(text)) return 'closed';
  return /\b(all|every)\b/i.test(text) ? 'all' : 'open';
}

function whoseIn(text: string): string {
  const name = /\b(alice|bob)\b/i.exec(text)?.[1];
  if (name !== undefined) return name.toLowerCase();
  if (/\b(my|mine|me|i)\b/i.test(text)) return 'me';
  return /\b(all|every|everyone|everybody|anyone|team|our|we)\b/i.test(text) ? 'anyone' : 'me';
}

function numbersIn(text: string): number[] {
  return [...new Set([...text.matchAll(/#?(\d+)/g)].map(([, digits]) => Number(digits)))];
}

function unquoted(text: string): string {
  return text.trim().replace(/^["“'‘](.*)["”'’]\.?$/s, '$1');
}

/* ---- reading Tracker ---------------------------------------------------------------------------------- */

interface Issue {
  id: string;
  title: string;
  state: string;
  assignee: string;
}

/** Tracker writes an issue as `#12 Title (open, alice)`. */
function issuesIn(outcome: ToolOutcome | undefined): Issue[] {
  const lines = outcome?.text.matchAll(/#(\d+) (.+) \((open|closed), (.+?)\)$/gm) ?? [];
  return [...lines].map(([, id = '', title = '', state = '', assignee = '']) => ({
    id,
    title,
    state,
    assignee,
  }));
}

export function nameOf(outcome: ToolOutcome | undefined): string {
  const [issue] = issuesIn(outcome);
  return issue ? `**#${issue.id}** ${issue.title}` : 'the issue';
}

function listed(outcome: ToolOutcome | undefined): string {
  const issues = issuesIn(outcome);
  const { state = '', assignee = '' } = (outcome?.input ?? {}) as Record<string, string>;
  const kind = state === 'all' ? 'issue' : `${state} issue`;
  const [subject, has] = { me: ['You', 'have'], anyone: ['The team', 'has'] }[assignee] ?? [
    capital(assignee),
    'has',
  ];
  if (issues.length === 0) return `${subject} ${has} no ${kind}s in Tracker.`;
  const lines = issues.map((issue) => {
    const notes = [state === 'all' ? issue.state : '', assignee === 'anyone' ? issue.assignee : ''].filter(
      Boolean,
    );
    return `- **#${issue.id}** ${issue.title}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`;
  });
  const count = `**${issues.length} ${kind}${issues.length === 1 ? '' : 's'}**`;
  return `${subject} ${has} ${count} in Tracker:\n\n${lines.join('\n')}`;
}

function detailsOf(outcome: ToolOutcome): string {
  const [issue] = issuesIn(outcome);
  if (!issue) return outcome.text;
  const [, ...rest] = outcome.text.split('\n');
  const heading = `**#${issue.id} ${issue.title}** · ${issue.state} · ${issue.assignee}`;
  return [heading, ...rest.map((line) => `> ${line}`)].join('\n');
}

function overviewOf(issues: Issue[]): string {
  const open = issues.filter(({ state }) => state === 'open');
  const lines = [...Map.groupBy(open, ({ assignee }) => assignee)].map(
    ([name, theirs]) =>
      `- **${capital(name)}**: ${theirs.map(({ id, title }) => `#${id} ${title}`).join(', ')}`,
  );
  const counts = `**${open.length} open** and ${issues.length - open.length} closed issues`;
  return [`There are ${counts} in Tracker.`, lines.join('\n')].filter(Boolean).join('\n\n');
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
