/**
 * How a server is recognized: its picture, or the first letter of its title on its colour. Both may be set in the agents file;
 * otherwise the colour is derived from the name. What servers say about their looks is not used. Pure.
 */
export interface Look {
  /** A data URL. */
  picture: string | null;
  letter: string;
  colour: string;
  /** Black or white, whichever is easier to read on the colour. */
  ink: '#000' | '#fff';
}

export const colourPattern = /^#[0-9a-f]{6}$/i;
/** No other address is ever loaded. */
const picturePattern = /^data:image\/(?:png|jpeg|webp|svg\+xml);base64,[A-Za-z0-9+/]+=*$/;

export function lookOf({
  name,
  title,
  colour: given,
  picture,
}: {
  name: string;
  title: string;
  colour?: string | undefined;
  picture?: string | undefined;
}): Look {
  const colour = given !== undefined && colourPattern.test(given) ? given : colourOf(name);
  return {
    picture: picture !== undefined && picturePattern.test(picture) ? picture : null,
    letter: firstLetter(title),
    colour,
    ink: luminance(colour) > luminanceOfEqualContrast ? '#000' : '#fff',
  };
}

export function firstLetter(title: string): string {
  const [first] = new Intl.Segmenter().segment(title);
  return first?.segment.toUpperCase() ?? '';
}

/** Hues far apart for names that differ little. */
function colourOf(name: string): string {
  let hash = 0;
  for (const character of name) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) | 0;
  return toHex((Math.abs(Math.imul(hash, 2_654_435_761)) >>> 8) % 360);
}

const saturation = 0.42;
const lightness = 0.4;

/** A colour of the wheel, from 0 to 359, in fixed saturation and lightness (HSL). */
function toHex(hue: number): string {
  const spread = saturation * Math.min(lightness, 1 - lightness);
  const channel = (shift: number) => {
    const at = (shift + hue / 30) % 12;
    const value = lightness - spread * Math.max(-1, Math.min(at - 3, 9 - at, 1));
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, '0');
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}

/** Where black and white have the same contrast (WCAG). */
const luminanceOfEqualContrast = 0.179;

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const part = Number.parseInt(colour.slice(start, start + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
