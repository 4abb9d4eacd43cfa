/** What people see in Slack, state by state, made by the code that makes it there. Pure. */
import type {
  Context,
  ElicitationEvent,
  ElicitationRequest,
} from '@interlude-ai/core/elicitation/elicitation.ts';
import { homeView, unlinkedHomeView } from '../../src/api/slack/blocks/home-view.ts';
import { noticeModal, onwardModal, fieldBlock, questionModal } from '../../src/api/slack/blocks/modals.ts';
import { questionMessage } from '../../src/api/slack/vocabulary/blocks/question-message.ts';
import { withStopButton } from '../../src/api/slack/vocabulary/blocks/texts.ts';
import { toMrkdwn } from '../../src/api/slack/vocabulary/text/mrkdwn.ts';
import { en as words } from '../../src/api/slack/vocabulary/words/en.ts';

export interface Shown {
  /** Whoever wrote it. */
  by: 'ally' | 'Interlude';
  text: string;
  blocks?: unknown[];
  /** Only this reader sees it. */
  isPrivate?: boolean;
}

export interface State {
  /** Of the picture's file. */
  name: string;
  /** What a reader who does not see it is told. */
  alt: string;
  messages?: Shown[];
  /** Windows beside each other, or a home. `errors`: by the blocks of their inputs. */
  views?: { view: unknown; errors?: Record<string, string> }[];
}

const publicUrl = 'https://agents.example.com';
const deadline = Date.UTC(2026, 10, 23, 14, 5);
const page = `${publicUrl}/auth/answer?e=8f14e45f`;

const account: ElicitationRequest = {
  mode: 'url',
  message: 'Tracker needs your account to list issues.',
  url: `${publicUrl}/auth/connect?e=8f14e45f`,
  context: { trigger: 'credential_required', serverTitle: 'Tracker' },
};
const form: ElicitationRequest = {
  mode: 'form',
  message: 'Where to, and for how long?',
  context: { trigger: 'mcp_elicitation', serverTitle: 'Travel Desk' },
  requestedSchema: {
    type: 'object',
    properties: {
      city: { type: 'string', title: 'City', minLength: 2, description: 'Where you want to sleep' },
      nights: { type: 'integer', title: 'Nights', minimum: 1, maximum: 14, default: 2 },
      arrival: { type: 'string', format: 'date', title: 'Arrival', default: '2026-12-24' },
      room: { type: 'string', title: 'Room', enum: ['Single', 'Double'], default: 'Double' },
    },
    required: ['city', 'nights', 'arrival', 'room'],
  },
};
const approval: ElicitationRequest = {
  mode: 'form',
  message: 'Assistant wants to delete page in Wiki. Approve this?',
  context: {
    trigger: 'approval',
    serverTitle: 'Wiki',
    toolName: 'delete_page',
    arguments: JSON.stringify({ page: 'Travel policy 2019', reason: 'replaced' }, null, 2),
  },
  requestedSchema: { type: 'object', properties: {} },
};
const link: ElicitationRequest = {
  mode: 'url',
  message: 'Pay the deposit of 40 € for the room in Lisbon.',
  url: 'https://pay.example/deposit?booking=8261',
  context: { trigger: 'mcp_elicitation', serverTitle: 'Travel Desk' },
};

const asked = (
  request: ElicitationRequest,
  status: ElicitationEvent['status'] = 'pending',
  isElsewhere = false,
  context: Partial<Context> = {},
): Shown => ({
  by: 'Interlude',
  ...questionMessage(
    words,
    {
      type: 'elicitation-request',
      elicitationId: '8f14e45f',
      status,
      expiresAt: new Date(deadline).toISOString(),
      ...request,
      context: { ...request.context, ...context },
    },
    { slackUser: 'U1', isElsewhere },
  ),
});
const said = (markdown: string): Shown => ({ by: 'Interlude', text: toMrkdwn(markdown) });
const whispered = (text: string, blocks?: unknown[]): Shown => ({
  by: 'Interlude',
  text,
  isPrivate: true,
  ...(blocks && { blocks }),
});
const wrote = (text: string): Shown => ({ by: 'ally', text });
const windowOf = (request: ElicitationRequest, isAboutAccount = false) =>
  questionModal({
    words,
    question: { id: '8f14e45f', request, deadline, isAboutAccount },
    askedBy: ['Assistant'],
    page,
  });

export const states: State[] = [
  {
    name: 'linking',
    alt: 'A person without a link gets one in a message that only they see',
    messages: [wrote('<@U9> list my open issues'), whispered(words.offer(`${publicUrl}/slack/link?t=…`))],
  },
  {
    name: 'asked',
    alt: 'In the thread, Tracker asks ally for an account, with the buttons Connect and Not now; a delegated agent asks for an approval, with Review and Refuse',
    messages: [
      wrote('<@U9> list my open issues'),
      said('I look them up in Tracker.'),
      asked(account),
      asked(
        { ...approval, message: 'Editor wants to delete page in Wiki. Approve this?' },
        'pending',
        false,
        { agent: 'Editor', path: ['Editor'] },
      ),
    ],
  },
  {
    name: 'answered',
    alt: 'The question reads Connected, and the answer goes on below it, with a table and a link',
    messages: [
      wrote('<@U9> list my open issues'),
      said('I look them up in Tracker.'),
      asked(account, 'accept'),
      said(
        'Here they are, **two** are overdue:\n\n| Issue | Due |\n|---|---|\n| Checkout button | 20 Nov |\n| Receipts | 22 Nov |\n\nSee [the board](https://tracker.example/board).',
      ),
    ],
  },
  {
    name: 'settled',
    alt: 'How questions end: Answered, Approved elsewhere, Refused, Declined, Connected elsewhere, Dismissed, expired',
    messages: [
      asked(form, 'accept'),
      asked(approval, 'accept', true),
      asked(approval, 'decline'),
      asked(link, 'decline'),
      asked(account, 'accept', true),
      asked(form, 'cancel'),
      asked(form, 'expired'),
    ],
  },
  {
    name: 'private-words',
    alt: 'Messages that only one person sees: the question is for someone else; the agent is still at work, with a button Stop; noted, not now',
    messages: [
      whispered(words.notShown['not-yours']),
      whispered(words.busy, withStopButton(words, words.busy, '1')),
      whispered(words.noted),
    ],
  },
  {
    name: 'form',
    alt: 'A form in a window, and the same window with an error below a field',
    views: [
      { view: windowOf(form) },
      { view: windowOf(form), errors: { [fieldBlock(0)]: words.shared.tooShort(2) } },
    ],
  },
  {
    name: 'approval',
    alt: 'An approval shows what will be sent, four decisions without a default, and a field for a reason',
    views: [{ view: windowOf(approval) }],
  },
  {
    name: 'link',
    alt: 'A link: its host, its whole address and a button Agree; after that a button Continue',
    views: [
      { view: windowOf({ ...link, context: { ...link.context, warnings: ['punycode'] } }) },
      { view: onwardModal(words, { url: link.url, host: 'pay.example' }) },
    ],
  },
  {
    name: 'page',
    alt: 'An account: the window leads to our page; a window of a settled question says so',
    views: [
      { view: windowOf(account, true) },
      { view: noticeModal(words, words.settledAlready(words.outcomes.answered.elsewhere)) },
    ],
  },
  {
    name: 'home',
    alt: 'The app’s home: two questions with their buttons, and the connections; without a link, a button Connect your account',
    views: [
      {
        view: homeView(words, {
          questions: [account, form].map((request) => ({
            question: { id: '8f14e45f', request, deadline },
            askedBy: ['Assistant'],
          })),
          connections: [
            { title: 'Tracker', status: 'missing', isShared: false },
            { title: 'Wiki', status: 'connected', isShared: true },
            { title: 'Travel Desk', status: 'broken', isShared: false },
          ],
          publicUrl,
        }),
      },
      { view: unlinkedHomeView(words) },
    ],
  },
];
