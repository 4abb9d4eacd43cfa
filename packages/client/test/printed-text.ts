import { TurnPrinter } from '@interlude-ai/program/chat/turn-printer.ts';
import type { Screen } from '@interlude-ai/program/chat/screen.ts';
import type { TurnView } from '../src/turn-view.ts';

/** Shows nothing. */
export const silentScreen: Screen = {
  text: () => undefined,
  endText: () => undefined,
  takeBack: () => false,
  line: () => undefined,
  gap: () => undefined,
  note: () => undefined,
  prompt: () => undefined,
  discard: () => undefined,
  close: () => undefined,
};

/** Everything that the terminal prints. */
export async function printedText(views: AsyncIterable<TurnView>): Promise<string> {
  let told = '';
  const screen: Screen = {
    ...silentScreen,
    text: (text) => void (told += text),
    endText: () => void (told += '¶'),
    takeBack(text) {
      if (!told.endsWith(text)) return false;
      told = told.slice(0, -text.length);
      return true;
    },
    line: (line) => void (told += `[${line}]`),
  };
  const printer = new TurnPrinter(screen, () => 0);
  for await (const view of views) printer.print(view);
  return told;
}
