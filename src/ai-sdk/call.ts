/** What a consumer asks of a language model, in any version of the interface, and what it may say to us in particular. */
import { InvalidArgumentError } from '@ai-sdk/provider';
import type {
  LanguageModelV2CallOptions,
  LanguageModelV3CallOptions,
  LanguageModelV4CallOptions,
} from '@ai-sdk/provider';

export type Call = LanguageModelV2CallOptions | LanguageModelV3CallOptions | LanguageModelV4CallOptions;

/** `providerOptions.interlude` of `streamText` and `generateText`. */
export type InterludeCallOptions = {
  /**
   * Goes on with this conversation, or begins it under this id: 1–128 characters of `A-Z a-z 0-9 . _ : -`. Its stored
   * messages are the history, and only the prompt's last message is new. Without it, every call is a conversation of
   * its own, and the prompt its history.
   */
  conversationId?: string;
  /** Of the new message. In a conversation, the same id again is the same turn again, however much later. */
  messageId?: string;
  /** Another call with the same key within a day is the same turn. */
  idempotencyKey?: string;
  /**
   * What becomes of a turn that is at work in this conversation: `refuse` (the default) keeps it and fails with status
   * 409, `cancel` stops it. One that only waits for a person makes room in any case.
   */
  onBusy?: 'refuse' | 'cancel';
};

const id = {
  fits: (value: unknown) => typeof value === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(value),
  form: '1–128 characters of A-Z, a-z, 0-9, ".", "_", ":" and "-"',
};

const forms: Record<keyof InterludeCallOptions, { fits: (value: unknown) => boolean; form: string }> = {
  conversationId: id,
  messageId: id,
  idempotencyKey: {
    fits: (value) => typeof value === 'string' && value.length > 0 && value.length <= 255,
    form: 'a text of 1–255 characters',
  },
  onBusy: { fits: (value) => value === 'refuse' || value === 'cancel', form: '"refuse" or "cancel"' },
};

export function callOptionsOf({ providerOptions }: Call): InterludeCallOptions {
  const given: Record<string, unknown> = providerOptions?.['interlude'] ?? {};
  for (const [name, value] of Object.entries(given)) {
    const argument = `providerOptions.interlude.${name}`;
    if (!isKnown(name)) {
      const message = `${argument} is not an option. There are: ${Object.keys(forms).join(', ')}.`;
      throw new InvalidArgumentError({ argument, message });
    }
    const { fits, form } = forms[name];
    if (value === undefined || fits(value)) continue;
    throw new InvalidArgumentError({ argument, message: `${argument} has to be ${form}.` });
  }
  return given;
}

function isKnown(name: string): name is keyof InterludeCallOptions {
  return Object.hasOwn(forms, name);
}
