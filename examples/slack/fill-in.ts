/** Asks for each input of a window, in the terminal. */
import { inputsOf } from '../../test/servers/slack/entered.ts';
import type { Entered } from '../../test/servers/slack/entered.ts';
import type { OpenWindow } from '../../test/servers/slack/views.ts';

/** Undefined: the person closes the window. */
export async function fillIn(
  { view }: OpenWindow,
  ask: (question: string) => Promise<string>,
): Promise<Entered | undefined> {
  const entered: Entered = {};
  for (const { label, element, optional } of inputsOf(view)) {
    const choices = element.options?.map(({ text }) => text.text);
    const hint = [
      choices?.map((choice, index) => `${index + 1} ${choice}`).join(', '),
      optional && 'may be empty',
    ];
    const given = await ask(`│ ${label.text} (${hint.filter(Boolean).join('; ') || element.type}): `);
    if (given === 'close') return undefined;
    if (given === '') continue;
    const titles = given.split(',').map((one) => choices?.[Number(one) - 1] ?? one.trim());
    const several = element.type === 'checkboxes' || element.type === 'multi_static_select';
    if (element.type === 'datetimepicker') entered[label.text] = Date.parse(given) / 1000;
    else entered[label.text] = several ? titles : choices ? (titles[0] ?? given) : given;
  }
  const sure = await ask('│ Enter sends it, "close" closes the window: ');
  return sure === 'close' ? undefined : entered;
}
