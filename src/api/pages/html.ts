/**
 * HTML that is escaped by construction: pages are built with the `html` tag, which escapes every value that is not `Html`
 * itself. Values belong between tags or inside quoted attributes.
 */
export interface Html {
  readonly markup: string;
}

/** `false` and `undefined` add nothing, so that parts can be conditional. */
type HtmlValue = string | number | false | undefined | Html | readonly Html[];

export function html(literal: TemplateStringsArray, ...values: HtmlValue[]): Html {
  const markup = literal.reduce((before, part, index) => before + toMarkup(values[index - 1]) + part);
  return { markup };
}

function toMarkup(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (typeof value === 'string' || typeof value === 'number') return escape(String(value));
  return 'markup' in value ? value.markup : value.map(({ markup }) => markup).join('');
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}
