/** The app's home, different for each person: their open questions and connections, or how to sign in. Pure. */
import type { HomeView, KnownBlock } from '@slack/types';
import { connectionsAddress } from '@interlude-ai/core/elicitation/account-pages.ts';
import type { SlackWords } from '../vocabulary/words/en.ts';
import { until } from './modals.ts';
import type { SlackQuestion } from './modals.ts';
import { askerOf, asking, questionButtons } from '../vocabulary/blocks/question-message.ts';
import { inline, literal, marked, note, quoted } from '../vocabulary/blocks/texts.ts';

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

export function homeView(words: SlackWords, { questions, connections, publicUrl }: HomeParts): HomeView {
  const page = `<${connectionsAddress(publicUrl)}|${words.yourPage}>`;
  const left = questions.length - mostQuestions;
  return {
    type: 'home',
    blocks: [
      { type: 'header', text: literal(words.waitsForYou) },
      ...(questions.length === 0 ? [marked(words.nothingWaits)] : []),
      ...questions.slice(0, mostQuestions).flatMap((one) => questionBlocks(words, one)),
      ...(left > 0 ? [marked(words.moreOn(left, page))] : []),
      { type: 'header', text: literal(words.yourConnections) },
      ...connectionBlocks(words, connections),
      note(words.changeThemOn(page)),
    ],
  };
}

export function unlinkedHomeView(words: SlackWords): HomeView {
  return {
    type: 'home',
    blocks: [
      { type: 'header', text: literal(words.whoAreYou) },
      marked(words.haveToKnow),
      {
        type: 'actions',
        elements: [
          {
            type: 'button',
            action_id: homeActions.link,
            value: 'link',
            style: 'primary',
            text: literal(words.connectYourAccount),
          },
        ],
      },
    ],
  };
}

/** For people who are not offered a link. */
export function strangerHomeView(text: string): HomeView {
  return { type: 'home', blocks: [marked(text)] };
}

function questionBlocks(
  words: SlackWords,
  { question, askedBy }: HomeParts['questions'][number],
): KnownBlock[] {
  const { id, request } = question;
  const by = inline(askedBy.join(' → '), 200);
  const asker = `*${inline(askerOf(words, request), 200)}*`;
  return [
    marked(`${asking(words, request, asker)}: ${quoted(words.ownQuestion(request), longestWords)}`),
    note(`${by === '' ? '' : `${by} · `}${until(words, question)}`),
    { type: 'actions', elements: questionButtons(words, { ...request, elicitationId: id }) },
  ];
}

function connectionBlocks(words: SlackWords, connections: HomeConnection[]): KnownBlock[] {
  if (connections.length === 0) return [marked(words.nothingToConnect)];
  const lines = connections.slice(0, mostConnections).map(({ title, status, isShared }) => {
    const line = words.connections[status](inline(title, 60));
    return `• ${isShared ? words.forYourTeam(line) : line}`;
  });
  const left = connections.length - mostConnections;
  return [marked([...lines, ...(left > 0 ? [words.andMore(left)] : [])].join('\n'))];
}
