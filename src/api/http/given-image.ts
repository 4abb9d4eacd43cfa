/** Images as useChat and OpenAI clients send them: data URLs (RFC 2397) in base64. Pure. */
import type { GivenImage } from '../../service/take-images.ts';
import { invalidRequest } from './problems.ts';

/** `pointer`: its place in the body. */
export function givenImage(url: unknown, pointer: string): GivenImage {
  if (typeof url !== 'string') throw refused('send the image as a data: URL', pointer);
  const comma = url.indexOf(',');
  const head = url.slice(0, comma).toLowerCase();
  if (!head.startsWith('data:')) throw refused(addressed, pointer);
  if (!head.endsWith(';base64'))
    throw refused('write the data: URL in base64, like data:image/png;base64,…', pointer);
  return { type: 'image', base64: url.slice(comma + 1), at: pointer.split('/').slice(1) };
}

const addressed =
  'the service fetches nothing from addresses; send the image itself, as a data: URL in base64';

function refused(detail: string, pointer: string) {
  return invalidRequest([{ pointer, detail }]);
}
