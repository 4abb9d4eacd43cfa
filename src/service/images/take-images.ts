/**
 * The images of a request, taken out of its messages: each is checked, and named in its message by the digest of its bytes.
 * So what is compared, and what is stored as the message, stays small.
 */
import type { Config } from '../../config/config.ts';
import type { NewImage } from '../../storage/ports/images.ts';
import type { ImagePart } from '../../turn/image-part.ts';
import { invalidInput, ServiceError } from '../service-error.ts';
import type { GivenImage, GivenMessage, TurnRequest } from '../turn-request.ts';
import { readImage } from './read-image.ts';

/** A message with nothing but names of its images. */
export interface TakenMessage extends Omit<GivenMessage, 'content'> {
  content: (Exclude<GivenMessage['content'][number], GivenImage> | ImagePart)[];
}

export type TakenRequest = Omit<TurnRequest, 'messages'> & { messages: TakenMessage[] };

interface Taken {
  messages: TakenMessage[];
  /** Each once. */
  images: NewImage[];
}

interface Limits {
  limits: Config['images'];
  /** Whether the agent's model takes any. */
  isTaken: boolean;
}

/** In a conversation that is given, nothing but the last message counts. */
export function takeImages({ conversation, messages }: TurnRequest, limits: Limits): Taken {
  const images = new Map<string, NewImage>();
  const counting = conversation === undefined ? messages : messages.slice(-1);
  const taken = counting.map((message) => {
    const content = takeOf(message, limits, (image) => images.set(image.digest, image));
    return { ...message, content };
  });
  return { messages: taken, images: [...images.values()] };
}

function takeOf(
  { content }: GivenMessage,
  { limits, isTaken }: Limits,
  take: (image: NewImage) => void,
): TakenMessage['content'] {
  let count = 0;
  let total = 0;
  return content.map((part) => {
    if (part.type !== 'image') return part;
    if (!isTaken) {
      const detail = 'This agent takes no images. Send text, or choose an agent that does.';
      throw new ServiceError('images_not_taken', detail, { issues: [{ path: part.at, detail }] });
    }
    if (++count > limits.perMessage)
      throw invalidInput(part.at, `a message has at most ${limits.perMessage} images`);
    const read = readImage(part.base64, limits);
    if (read.kind === 'refused') throw invalidInput(part.at, read.reason);
    const { data, ...image } = read.image;
    total += image.bytes;
    if (total > limits.maxBytesPerMessage)
      throw invalidInput(
        part.at,
        `with this one, the images of the message have more than ${limits.maxBytesPerMessage} bytes`,
      );
    take({ ...image, data });
    return { type: 'stored-image', ...image };
  });
}
