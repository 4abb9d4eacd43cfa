import type { ImagePart } from '../../turn/image-part.ts';

/** Which one: the turn whose messages it came with, and the digest of its bytes. */
export interface ImageName {
  turnId: string;
  digest: string;
}

export type NewImage = Omit<ImagePart, 'type' | 'data'> & { data: string };

/** Bytes of images, as base64. They come and go with their turn: `Turns.prepare`, `Turns.withdraw`. */
export interface Images {
  /** Those that are there. */
  read(names: ImageName[]): Promise<(ImageName & { data: string })[]>;
}
