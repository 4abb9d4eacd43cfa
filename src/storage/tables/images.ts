import type { Transaction } from 'kysely';
import type { ImagePart } from '../../turn/message-parts.ts';
import { chunks } from '../log/append.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';
import { insertNew } from '../statements.ts';
import { imagesIn, isImagePart } from '../../turn/message-parts.ts';
import type { StoredMessage } from '../schema/turn-tables.ts';

/** An image: the turn with whose messages it came, and the digest of its bytes. */
interface ImageName {
  turnId: string;
  digest: string;
}

export type NewImage = Omit<ImagePart, 'type' | 'data'> & { data: string };

/** Bytes of images, as base64. They are stored and deleted with their turn: `Turns.prepare`, `Turns.withdraw`. */
export type Images = ReturnType<typeof createImages>;

export function createImages({ query }: Database) {
  return {
    /** Missing ones are left out. */
    async read(names: ImageName[]): Promise<(ImageName & { data: string })[]> {
      const found = [];
      for (const chunk of chunks(names)) {
        const rows = await query
          .selectFrom('images')
          .select(['turn_id as turnId', 'digest', 'data'])
          .where(({ or, and }) => or(chunk.map(({ turnId, digest }) => and({ turn_id: turnId, digest }))))
          .execute();
        found.push(...rows);
      }
      return found;
    },
  };
}

/** Call it in the transaction that writes the turn. */
export async function insertImages(
  write: Transaction<Tables>,
  turnId: string,
  images: NewImage[],
): Promise<void> {
  // One at a time: each may have megabytes.
  for (const { digest, data } of images) {
    await insertNew(write, 'images', { turn_id: turnId, digest, data }, ['turn_id', 'digest']);
  }
}

/** Adds the bytes of images to messages, the newest first, up to `maxBytes` in all. The others stay without bytes. */
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

/** Stops at the first image that does not fit, so that only older ones are left out. */
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
