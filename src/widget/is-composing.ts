import type { KeyboardEvent } from 'react';

/** While a word is being composed, keys belong to the input method. Safari says so of the last of them by its number only. */
export function isComposing({ nativeEvent }: KeyboardEvent): boolean {
  return nativeEvent.isComposing || nativeEvent.keyCode === 229;
}
