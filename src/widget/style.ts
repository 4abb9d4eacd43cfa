import { circumstances } from './style/circumstances.ts';
import { foot } from './style/foot.ts';
import { frame } from './style/frame.ts';
import { messages } from './style/messages.ts';
import { questions } from './style/questions.ts';

/** The widget's own sheet. Hosts set `--interlude-accent`, `--interlude-font`, `--interlude-radius` and the like on the element. */
export const style = frame + messages + questions + foot + circumstances;
