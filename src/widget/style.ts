import { circumstances } from './style/circumstances.ts';
import { foot } from './style/foot.ts';
import { frame } from './style/frame.ts';
import { messages } from './style/messages.ts';
import { questions } from './style/questions.ts';

/** The widget's own sheet. Hosts set `--interlude-accent`, `--interlude-font`, `--interlude-radius` and the like on the element. */
const sheet = frame + messages + questions + foot + circumstances;

/** A page may have made `rem` something else for itself: `--interlude-unit` says what it is here. Queries know no variables. */
export const style = sheet.replaceAll(/(-?[\d.]+)rem/g, 'calc($1*var(--unit))');
