/** Puts the bytes of images into messages, for whoever is to see them: the newest, as far as there is room. */
import { imagesIn, isImagePart } from '../turn/image-part.ts';
import type { ImageName, Images } from './ports/images.ts';
import type { StoredMessage } from './ports/conversations.ts';

/** `maxBytes`: of all images together. Those that do not fit stay without their bytes. */
export async function withImages<Message extends Pick<StoredMessage, 'turnId' | 'content'>>(
  images: Images,
  messages: Message[],
  maxBytes: number,
): Promise<Message[]> {
  const names = newestThatFit(messages, maxBytes);
  if (names.length === 0) return messages;
  const read = new Map((await images.read(names)).map((image) => [keyOf(image), image.data]));
  return messages.map((message) => {
    if (!Array.isArray(message.content) || imagesIn(message.content).length === 0) return message;
    const content = message.content.map((part: unknown) => {
      const data = isImagePart(part) ? read.get(keyOf({ ...message, ...part })) : undefined;
      return data === undefined ? part : { ...(part as object), data };
    });
    return { ...message, content };
  });
}

/** Of an image that is too large for the room left, and of all older ones, none: what is left out is the beginning. */
function newestThatFit(messages: Pick<StoredMessage, 'turnId' | 'content'>[], maxBytes: number): ImageName[] {
  const names: ImageName[] = [];
  let room = maxBytes;
  for (const { turnId, content } of messages.toReversed()) {
    for (const { digest, bytes } of imagesIn(content).toReversed()) {
      room -= bytes;
      if (room < 0) return names;
      names.push({ turnId, digest });
    }
  }
  return names;
}

function keyOf({ turnId, digest }: ImageName): string {
  return `${turnId} ${digest}`;
}
