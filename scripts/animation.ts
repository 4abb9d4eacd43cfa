/** An animated PNG (APNG) of pictures of one size: https://www.w3.org/TR/png-3/ */
import { crc32 } from 'node:zlib';

interface Frame {
  /** With the same size and kind of pixels as the others. */
  png: Buffer;
  ms: number;
}

export function animated(frames: Frame[]): Buffer {
  const [first] = frames;
  if (!first) throw new Error('an animation needs a frame');
  const chunks = frames.map(({ png }) => chunksOf(png));
  const header = chunks[0]?.find(({ type }) => type === 'IHDR')?.data ?? Buffer.alloc(0);
  let sequence = 0;
  const shown = frames.flatMap(({ ms }, index) => {
    const control = Buffer.alloc(26);
    control.writeUInt32BE(sequence++);
    header.copy(control, 4, 0, 8);
    control.writeUInt16BE(ms, 20);
    control.writeUInt16BE(1000, 22);
    const pixels = Buffer.concat(
      (chunks[index] ?? []).flatMap(({ type, data }) => (type === 'IDAT' ? [data] : [])),
    );
    if (index === 0) return [chunk('fcTL', control), chunk('IDAT', pixels)];
    return [chunk('fcTL', control), chunk('fdAT', Buffer.concat([uint32(sequence++), pixels]))];
  });
  return Buffer.concat([
    first.png.subarray(0, 8),
    chunk('IHDR', header),
    // Repeated for ever.
    chunk('acTL', Buffer.concat([uint32(frames.length), uint32(0)])),
    ...shown,
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunksOf(png: Buffer): { type: string; data: Buffer }[] {
  const chunks = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    chunks.push({
      type: png.toString('latin1', at + 4, at + 8),
      data: png.subarray(at + 8, at + 8 + length),
    });
    at += length + 12;
  }
  return chunks;
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([uint32(data.length), named, uint32(crc32(named))]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
