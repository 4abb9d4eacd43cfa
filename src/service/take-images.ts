/**
 * Takes the images out of a request's messages: each is checked, and replaced by the digest of its bytes, so that messages stay
 * small where they are compared and stored.
 */
import { createHash } from 'node:crypto';
import type { Config } from '../platform/config/config.ts';
import type { NewImage } from '../storage/tables/images.ts';
import type { DirectCallPart, FrontendToolsPart, ImagePart, PageContextPart } from '../turn/message-parts.ts';
import type { ImageType } from '@interlude-ai/core/images.ts';
import { invalidInput, ServiceError } from './service-error.ts';
import { imageTypeOf } from '../turn/tool-content.ts';

export interface GivenMessage {
  /** As the client names it. */
  id?: string | undefined;
  role: 'user' | 'assistant';
  content: (
    | { type: 'text'; text: string }
    | PageContextPart
    | FrontendToolsPart
    | DirectCallPart
    | GivenImage
  )[];
}

/** As it was sent, not validated. */
export interface GivenImage {
  type: 'image';
  base64: string;
  /** Its path in the request, for error messages. */
  at: string[];
}

/** A message that contains only the names of its images. */
export interface TakenMessage extends Omit<GivenMessage, 'content'> {
  content: (Exclude<GivenMessage['content'][number], GivenImage> | ImagePart)[];
}

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

/** In an existing conversation, only the last message counts. */
export function takeImages(
  { conversation, messages }: { conversation?: string | undefined; messages: GivenMessage[] },
  limits: Limits,
): Taken {
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

interface ReadImage {
  digest: string;
  mediaType: ImageType;
  bytes: number;
  /** Base64 with padding, without line ends. */
  data: string;
}

type ImageReading = { kind: 'image'; image: ReadImage } | { kind: 'refused'; reason: string };

/** Reads base64. The type is known by the first bytes, not by what the client says. */
export function readImage(base64: string, { maxBytes }: { maxBytes: number }): ImageReading {
  const tooLarge = refused(`the image is too large; send at most ${maxBytes} bytes`);
  // Checked before it is decoded.
  if (base64.length > Math.ceil(maxBytes / 3) * 4) return tooLarge;
  const bytes = Buffer.from(base64, 'base64');
  // Node skips what is not base64.
  if (bytes.length === 0 || bytes.toString('base64') !== base64)
    return refused('this is not base64, or a part of it is missing');
  if (bytes.length > maxBytes) return tooLarge;
  const mediaType = imageTypeOf(bytes);
  if (!mediaType) return refused('the bytes are of no image that is understood; send PNG, JPEG, GIF or WebP');
  const digest = createHash('sha256').update(bytes).digest('base64url');
  return { kind: 'image', image: { digest, mediaType, bytes: bytes.length, data: base64 } };
}

function refused(reason: string): ImageReading {
  return { kind: 'refused', reason };
}
