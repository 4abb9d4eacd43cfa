/** What stays in Temporal. */
import { say } from './doubles/model.ts';
import type { Section } from './report.ts';
import { breath } from './setup.ts';
import type { BenchSetup } from './setup.ts';
import type { History } from './floor-client.ts';
import type { Chat, User } from './user.ts';
import { workflowOf } from './workflow-of.ts';

export async function history(setup: BenchSetup): Promise<Section> {
  const { service, floor, newUser, client } = setup;
  const user = await newUser();
  const of = async ({ conversation }: Chat): Promise<History> => {
    await breath();
    const handle = await workflowOf(client, conversation);
    await handle.result();
    const { historyLength: events, historySize: bytes = 0 } = await handle.describe();
    return { events, bytes };
  };

  const turn = await of(await talked(user, say.talk));
  const asking = await user.chat(say.callTool);
  await service.connectAccounts([user.name]);
  await user.accept(asking);
  await asking.rest();
  const asked = await of(asking);
  const called = await of(await talked(user, say.callTool));
  const bare = await floor.histories();
  const tool = minus(called, turn);
  const question = minus(asked, called);
  const wait = minus(bare.waitAndAct, bare.startAndAct);
  const kibibytes = ({ bytes }: History) => [bytes / 1024];
  return {
    title: 'What stays in workflow history',
    rows: [
      {
        name: 'turn',
        meaning: 'a turn of one model step, against a bare workflow with one activity',
        ours: [turn.events],
        floor: [bare.startAndAct.events],
        unit: 'events',
      },
      {
        name: 'turn',
        meaning: 'the same',
        ours: kibibytes(turn),
        floor: kibibytes(bare.startAndAct),
        unit: 'KiB',
      },
      {
        name: 'tool call',
        meaning: 'what a tool call adds, with the model step that reads its result',
        ours: [tool.events],
        unit: 'events',
      },
      { name: 'tool call', meaning: 'the same', ours: kibibytes(tool), unit: 'KiB' },
      {
        name: 'question',
        meaning: 'what a question adds, with the repeated tool call; against a bare wait for a signal',
        ours: [question.events],
        floor: [wait.events],
        unit: 'events',
      },
      {
        name: 'question',
        meaning: 'the same',
        ours: kibibytes(question),
        floor: kibibytes(wait),
        unit: 'KiB',
      },
      {
        name: 'turn with three questions',
        meaning: 'all of it: three calls in three steps, each with a question',
        ours: [turn.events + 3 * (tool.events + question.events)],
        unit: 'events',
      },
    ],
    aims: [
      { name: 'a turn', value: turn.events, atMost: 11, because: 'events' },
      { name: 'a question', value: question.events, atMost: 13, because: 'events' },
      {
        name: 'three questions in one turn',
        value: turn.events + 3 * (tool.events + question.events),
        atMost: 68,
        because: 'events',
      },
    ],
  };
}

async function talked(user: User, text: string): Promise<Chat> {
  const chat = await user.chat(text);
  await chat.rest();
  return chat;
}

function minus(more: History, less: History): History {
  return { events: more.events - less.events, bytes: more.bytes - less.bytes };
}
