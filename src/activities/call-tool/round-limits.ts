/** A server that asks for ever is stopped: nobody has to answer the same machine all day. */
import type { ServerConfig } from '../../config/config.ts';
import { tooManyRoundsForModel } from '../../elicitation/wording.ts';
import type { InputRequired } from '../../remote/input-required.ts';

/** People press "done" before the page has noticed; three times is no coincidence. */
const maxSamePage = 3;

/** What the model is told when the call has to end here; null when the server may ask. */
export function tooManyRounds(
  { title, maxRounds }: Pick<ServerConfig, 'title' | 'maxRounds'>,
  before: InputRequired[],
  asked: InputRequired,
): string | null {
  if (before.length >= maxRounds) return tooManyRoundsForModel(title, 'rounds', maxRounds);
  const seen = before.flatMap(pagesIn);
  const isWornOut = (url: string) => seen.filter((one) => one === url).length >= maxSamePage;
  return pagesIn(asked).some(isWornOut) ? tooManyRoundsForModel(title, 'same-page', maxSamePage) : null;
}

function pagesIn({ questions }: InputRequired): string[] {
  return questions.flatMap(({ request }) => (request.mode === 'url' ? [request.url] : []));
}
