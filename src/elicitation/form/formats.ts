/**
 * What an email address, an address, a day and a moment are: RFC 3986 and RFC 3339, as `ajv-formats` reads them; a test
 * compares the two. Texts come from strangers and may be long, so that every pattern reads each character once.
 */
import type { TextFormat } from './field.ts';

export function hasFormat(text: string, format: TextFormat): boolean {
  switch (format) {
    case 'email':
      return email.test(text);
    case 'uri':
      return isUri(text);
    case 'date':
      return isDay(text);
    case 'date-time':
      return isMoment(text);
    default:
      return format satisfies never;
  }
}

const email =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i;

/** Which characters may stand where, and one fragment; the rest is for the parser that everybody has. */
const uri =
  /^[a-z][a-z0-9+.-]*:(?=.)(?:\/\/[\w.~!$&'()*+,;=:@[\]%-]*(?:[/?][\w.~!$&'()*+,;=:@/?%-]*)?|(?!\/\/)[\w.~!$&'()*+,;=:@/?%-]*)(?:#[\w.~!$&'()*+,;=:@/?%-]*)?$/i;

function isUri(text: string): boolean {
  return uri.test(text) && !/%(?![0-9a-f]{2})/i.test(text) && URL.canParse(text);
}

/** The calendar is asked too: there is no 31 April. */
function isDay(text: string): boolean {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** A leap second is the last one of a day in UTC. */
const clock =
  /^[t\s](?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)|23:59:60(?:\.\d+)?z)$/i;

function isMoment(text: string): boolean {
  return isDay(text.slice(0, 10)) && clock.test(text.slice(10));
}
