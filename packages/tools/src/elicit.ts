/** A question to the user, as authors of tools ask it, and how a page proves that it is done. */
import type { z } from 'zod';

/**
 * How a question ended. `decline`: the user refused. `cancel`: it was closed without an answer. `expired`: it was not
 * answered in time. `unsupported`: the caller cannot be asked. All are values, because a tool decides what each means.
 */
export type ElicitResult<Content> =
  | { status: 'accept'; content: Content }
  | { status: Exclude<ElicitStatus, 'accept'> };

export type ElicitStatus = 'accept' | 'decline' | 'cancel' | 'expired' | 'unsupported';

interface ElicitOptions {
  /** How long it stays open, in milliseconds. The operator's limit (ten minutes by default) is the default and the maximum. */
  ttl?: number;
  /** 16 to 64 letters, digits, `-` and `_`, not guessable. Default: random. Using an id twice throws. */
  elicitationId?: string;
}

export interface ElicitFormOptions extends ElicitOptions {
  mode?: 'form';
  /** `defaults`: if the user cannot be asked, the defaults of the schema are the answer, provided they are complete. */
  whenUnsupported?: 'fail' | 'defaults';
  url?: never;
}

/** Sends the user to a page of the author's. */
export interface ElicitUrlOptions extends ElicitOptions {
  mode: 'url';
  /**
   * An https address, or http on this machine. A function gets the question's id, with which the page reports that it is
   * done.
   */
  url: string | ((elicitationId: string) => string);
  whenUnsupported?: never;
}

export interface Elicit {
  /** Shows a form. Accepted content has been parsed by the schema. */
  <Shape extends z.core.$ZodLooseShape>(
    message: string,
    schema: FlatSchema<Shape>,
    options?: ElicitFormOptions,
  ): Promise<ElicitResult<z.output<z.ZodObject<Shape>>>>;
  /** Sends the user to a page, and waits until that page reports that it is done. */
  (message: string, schema: null, options: ElicitUrlOptions): Promise<ElicitResult<undefined>>;
}

/** An object schema whose fields a form can show. For other schemas the compiler names the wrong field. */
export type FlatSchema<Shape extends z.core.$ZodLooseShape> = z.ZodObject<Shape> & {
  readonly shape: { readonly [Name in keyof Shape]: IsFlat<Shape[Name]> extends true ? unknown : NotFlat };
};

interface NotFlat {
  readonly 'A form is flat: use a string, number, boolean, enum or an array of an enum': never;
}

/** Whether a form can show such a field. Only the schema's input type counts. */
type IsFlat<Field> = Field extends
  | z.core.$ZodOptional<infer Inner>
  | z.core.$ZodDefault<infer Inner>
  | z.core.$ZodPrefault<infer Inner>
  ? IsFlat<Inner>
  : Field extends z.core.$ZodPipe<infer Input>
    ? IsFlat<Input>
    : Field extends z.core.$ZodArray<infer Item>
      ? IsChoice<Item>
      : Field extends z.core.$ZodString | z.core.$ZodNumber | z.core.$ZodBoolean
        ? true
        : IsChoice<Field>;

type IsChoice<Field> =
  Field extends z.core.$ZodEnum<infer Values> ? (Values[keyof Values] extends string ? true : false) : false;

export interface Completion {
  /** The id of the question that sent the user to the page. The page gets it in its address. */
  elicitationId: string;
  /** The value of the variable that `tools.completionSecretEnv` of the agents file names; while it is changed, both values. */
  secret: string | readonly string[];
  /** The body of the request, exactly as it is sent. */
  body?: string;
  /** Time of the signature, in epoch milliseconds. Default: now. */
  at?: number;
}

/**
 * The header `Interlude-Signature` of `POST /run/v1/elicitations/{id}/complete`, with which a page's server reports that the
 * page is done. Never call it in a tool's code or a browser. It is valid for five minutes; sending it again changes nothing.
 */
export async function signCompletion({
  elicitationId,
  secret,
  body = '',
  at = Date.now(),
}: Completion): Promise<string> {
  const time = Math.floor(at / 1000);
  const bytes = (text: string) => new TextEncoder().encode(text);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const signedWith = async (one: string) => {
    const key = await crypto.subtle.importKey('raw', bytes(one), algorithm, false, ['sign']);
    const signed = await crypto.subtle.sign('HMAC', key, bytes(`${time}.${elicitationId}.${body}`));
    return `v1=${Array.from(new Uint8Array(signed), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  };
  return [`t=${time}`, ...(await Promise.all([secret].flat().map(signedWith)))].join(',');
}
