/** A question to the user, as authors of tools put it. */
import type { z } from 'zod';

/**
 * How a question ended. `decline` is a refusal, `cancel` a question that was closed without an answer, `expired` one that
 * was not answered in time; `unsupported` means that the caller cannot be asked. All are values, because a tool has to
 * decide what each of them means.
 */
export type ElicitResult<Content> =
  | { status: 'accept'; content: Content }
  | { status: Exclude<ElicitStatus, 'accept'> };

export type ElicitStatus = 'accept' | 'decline' | 'cancel' | 'expired' | 'unsupported';

interface ElicitOptions {
  /** How long it stays open, in milliseconds. The operator's limit (ten minutes by default) is the default and the maximum. */
  ttl?: number;
  /** 16 to 64 letters, digits, `-` and `_`, not guessable; random unless given. A second use of the same id throws. */
  elicitationId?: string;
}

export interface ElicitFormOptions extends ElicitOptions {
  mode?: 'form';
  /** `defaults`: where nobody can be asked, the defaults of the schema are the answer, if they are complete. */
  whenUnsupported?: 'fail' | 'defaults';
  url?: never;
}

/** A page of the author's, to which the user is sent. */
export interface ElicitUrlOptions extends ElicitOptions {
  mode: 'url';
  /**
   * An https address, or http on this machine; may be made from the question's id, with which the page reports that it is
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

/** An object schema whose fields a form can show. Of any other one the field at fault is named by the compiler. */
export type FlatSchema<Shape extends z.core.$ZodLooseShape> = z.ZodObject<Shape> & {
  readonly shape: { readonly [Name in keyof Shape]: IsFlat<Shape[Name]> extends true ? unknown : NotFlat };
};

interface NotFlat {
  readonly 'A form is flat: use a string, number, boolean, enum or an array of an enum': never;
}

/** Whether a form can show such a field: what it takes in, whatever is made of that. */
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
