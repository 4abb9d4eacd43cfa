/** A turn by way of A2A, against the same turn of the chat: what the other form of it costs. */
import { say } from './doubles/model.ts';
import type { Section } from './report.ts';
import { breath, timed } from './setup.ts';
import type { BenchSetup } from './setup.ts';

export async function a2a({ samples, newUser }: BenchSetup): Promise<Section> {
  const user = await newUser();
  const task: number[] = [];
  const chat: number[] = [];
  const taskStream: number[] = [];
  const chatStream: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    await breath();
    chat.push(await timed(() => user.ask(say.talk)));
    await breath();
    task.push(await timed(() => user.sendTask(say.talk, 'send')));
    await breath();
    chatStream.push(await timed(() => user.listen(say.talk, () => undefined)));
    await breath();
    taskStream.push(await timed(() => user.sendTask(say.talk, 'stream')));
  }
  return {
    title: 'A turn by way of A2A',
    rows: [
      {
        name: 'task / turn',
        meaning: 'a blocking message of A2A to its completed task, against the same turn of the chat as JSON',
        ours: task,
        floor: chat,
        unit: 'ms',
      },
      {
        name: 'task stream / feed',
        meaning:
          'a streamed message of A2A to the end of its stream, against the same turn as a stream of the chat',
        ours: taskStream,
        floor: chatStream,
        unit: 'ms',
      },
    ],
    aims: [],
  };
}
