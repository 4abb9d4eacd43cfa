/** Small images of each kind that is understood, in base64, one pixel each; and what is none. */
export const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
export const gif = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
export const webp = 'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA';
/** The beginning of one, which is all that is looked at. */
export const jpeg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex').toString('base64');

export const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64');
export const pdf = Buffer.from('%PDF-1.7\n').toString('base64');

export function dataUrl(base64: string, mediaType = 'image/png'): string {
  return `data:${mediaType};base64,${base64}`;
}

/** A PNG header with unique bytes after it. */
export function otherPng(name: string, bytes = 0): string {
  return Buffer.concat([Buffer.from(png, 'base64'), Buffer.from(name), Buffer.alloc(bytes)]).toString(
    'base64',
  );
}
