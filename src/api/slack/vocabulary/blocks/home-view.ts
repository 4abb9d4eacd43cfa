/** The app's home, different for each person: their open questions and connections, or how to sign in. Pure. */
import type { HomeView, KnownBlock } from '@slack/types';
import { connectionsAddress } from '@interlude-ai/core/elicitation/account-pages.ts';
import { escapeText } from '../text/mrkdwn.ts';
import { until } from './modals.ts';
import type { SlackQuestion } from './modals.ts';
import { askerOf, asks, questionButtons } from './question-message.ts';
import { inline, literal, marked, note, quoted } from './texts.ts';

export const homeActions = { link: 'home_link' } as const;

interface HomeParts {
  /** Oldest first. */
  questions: { question: Omit<SlackQuestion, 'isAboutAccount'>; askedBy: string[] }[];
  connections: HomeConnection[];
  publicUrl: string;
}

export interface HomeConnection {
  title: string;
  status: 'missing' | 'connected' | 'broken';
  /** Of the whole tenant. */
  isShared: boolean;
}

/** Three blocks per question: far below Slack's limit of a hundred blocks. */
const mostQuestions = 20;
const longestWords = 500;
const mostConnections = 25;

export function homeView({ questions, connections, publicUrl }: HomeParts): HomeView {
  const page = `<${connectionsAddress(publicUrl)}|your page>`;
  const left = questions.length - mostQuestions;
  return {
    type: 'home',
    blocks: [
      { type: 'header', text: literal('What waits for you') },
      ...(questions.length === 0 ? [marked('Nothing at the moment.')] : []),
      ...questions.slice(0, mostQuestions).flatMap(questionBlocks),
      ...(left > 0 ? [marked(`And ${left} more, on ${page}.`)] : []),
      { type: 'header', text: literal('Your connections') },
      ...connectionBlocks(connections),
      note(`You change them on ${page}. Mention me in a channel, or write to me directly.`),
    ],
  };
}

export function unlinkedHomeView(): HomeView {
  return {
    type: 'home',
    blocks: [
      { type: 'header', text: literal('Who are you?') },
      marked(
        'Before I can help, I have to know whose accounts I use for you. The button sends you a link in our direct messages, which is for you alone.',
      ),
      {
        type: 'actions',
        elements: [
          {
            type: 'button',
            action_id: homeActions.link,
            value: 'link',
            style: 'primary',
            text: literal('Connect your account'),
          },
        ],
      },
    ],
  };
}

/** For people who are not offered a link. */
export function strangerHomeView(words: string): HomeView {
  return { type: 'home', blocks: [marked(words)] };
}

function questionBlocks({ question, askedBy }: HomeParts['questions'][number]): KnownBlock[] {
  const { id, request } = question;
  const by = inline(askedBy.join(' → '), 200);
  return [
    marked(`*${inline(askerOf(request), 200)}*${asks(request)}: ${quoted(request.message, longestWords)}`),
    note(`${by === '' ? '' : `${by} · `}${until(question)}`),
    { type: 'actions', elements: questionButtons({ ...request, elicitationId: id }) },
  ];
}

function connectionBlocks(connections: HomeConnection[]): KnownBlock[] {
  if (connections.length === 0) return [marked('There is nothing to connect.')];
  const lines = connections
    .slice(0, mostConnections)
    .map(
      ({ title, status, isShared }) =>
        `• ${inline(title, 60)} – ${statusWords[status]}${isShared ? ', for your team' : ''}`,
    );
  const left = connections.length - mostConnections;
  return [marked([...lines, ...(left > 0 ? [escapeText(`… and ${left} more`)] : [])].join('\n'))];
}

const statusWords = {
  missing: 'not connected',
  connected: 'connected',
  broken: 'has to be connected again',
} satisfies Record<HomeConnection['status'], string>;
