/** What Slack takes as blocks and views, by the limits in its reference; the rest it refuses as `invalid_arguments`. */

export type Block = Record<string, unknown> & { type: string };
export interface View {
  type: string;
  blocks: Block[];
  title?: unknown;
  submit?: unknown;
  close?: unknown;
  callback_id?: string;
  private_metadata?: string;
}

type Part = Record<string, unknown>;

/** Each with the place where it is. Empty: Slack takes it. */
export function problemsOfView(view: View): string[] {
  const { type, blocks, title, submit, close } = view;
  const isModal = type === 'modal';
  const hasInputs = blocks.some((block) => block.type === 'input');
  return [
    ...(isModal || type === 'home' ? [] : ['type']),
    ...(blocks.length > 100 ? ['blocks: more than 100'] : []),
    ...(isModal ? plain(title, 24, 'title') : []),
    ...(submit === undefined ? [] : plain(submit, 24, 'submit')),
    ...(close === undefined ? [] : plain(close, 24, 'close')),
    ...(isModal && hasInputs && submit === undefined ? ['submit: required with inputs'] : []),
    ...longer(view.callback_id, 255, 'callback_id'),
    ...longer(view.private_metadata, 3_000, 'private_metadata'),
    ...(JSON.stringify(view).length > 250_000 ? ['view_too_large'] : []),
    ...problemsOfBlocks(blocks),
  ];
}

/** Of a message or a view. */
export function problemsOfBlocks(blocks: Block[]): string[] {
  const ids = blocks.flatMap(({ block_id: id }) => (id === undefined ? [] : [id]));
  return [
    ...(new Set(ids).size < ids.length ? ['block_id: not unique'] : []),
    ...blocks.flatMap((block, index) =>
      problemsOfBlock(block).map((problem) => `blocks/${index}/${problem}`),
    ),
  ];
}

function problemsOfBlock(block: Block): string[] {
  const { type, text, label, hint, element, elements = [], block_id: id } = block;
  const parts = elements as Part[];
  const own = longer(id, 255, 'block_id');
  switch (type) {
    case 'section':
      return [...own, ...textOf(text, 3_000, 'text')];
    case 'header':
      return [...own, ...plain(text, 150, 'text')];
    case 'context':
      return [
        ...own,
        ...(parts.length > 10 || parts.length === 0 ? ['elements'] : []),
        ...parts.flatMap((one) => textOf(one, 3_000, 'elements')),
      ];
    case 'actions':
      return [...own, ...(parts.length > 25 ? ['elements'] : []), ...parts.flatMap(problemsOfElement)];
    case 'input':
      return [
        ...own,
        ...plain(label, 2_000, 'label'),
        ...(hint === undefined ? [] : plain(hint, 2_000, 'hint')),
        ...problemsOfElement(element as Part),
      ];
    default:
      return [`type: ${type}`];
  }
}

function problemsOfElement(element: Part): string[] {
  const { type, options, initial_option: one, initial_options: some, initial_value: value } = element;
  const given = (options ?? []) as Part[];
  const isOffered = (option: unknown) =>
    given.some((offered) => JSON.stringify(offered) === JSON.stringify(option));
  const chosen = [...(one === undefined ? [] : [one]), ...((some ?? []) as unknown[])];
  const choiceProblems = (most: number) => [
    ...(given.length < 1 || given.length > most ? [`${type as string}: options`] : []),
    ...given.flatMap((option) => [
      ...plain(option['text'], 75, 'option'),
      ...longer(option['value'], 150, 'option value'),
    ]),
    ...(chosen.every(isOffered) ? [] : ['initial option is none']),
    ...(Array.isArray(some) && some.length === 0 ? ['initial_options: empty'] : []),
  ];
  const number = (name: string) => (isLike(element[name], /^"-?\d+(\.\d+)?"$/) ? [] : [name]);
  const own = longer(element['action_id'], 255, 'action_id');
  switch (type) {
    case 'button':
      return [
        ...own,
        ...plain(element['text'], 75, 'button'),
        ...longer(element['value'], 2_000, 'value'),
        ...longer(element['url'], 3_000, 'url'),
      ];
    case 'plain_text_input':
      return [
        ...own,
        ...longer(value, 3_000, 'initial_value'),
        ...within(element['min_length'], 0, 3_000, 'min_length'),
        ...within(element['max_length'], 1, 3_000, 'max_length'),
      ];
    case 'email_text_input':
    case 'url_text_input':
      return [...own, ...longer(value, 3_000, 'initial_value')];
    case 'number_input':
      return [
        ...own,
        ...(typeof element['is_decimal_allowed'] === 'boolean' ? [] : ['is_decimal_allowed']),
        ...['min_value', 'max_value', 'initial_value'].flatMap(number),
      ];
    case 'datepicker': {
      const { initial_date: date } = element;
      return isLike(date, /^"\d{4}-\d\d-\d\d"$/) ? own : ['initial_date'];
    }
    case 'datetimepicker': {
      const { initial_date_time: at } = element;
      return isLike(at, /^\d{10}$/) ? own : ['initial_date_time'];
    }
    case 'radio_buttons':
    case 'checkboxes':
      return [...own, ...choiceProblems(10)];
    case 'static_select':
      return [...own, ...choiceProblems(100)];
    case 'multi_static_select':
      return [
        ...own,
        ...choiceProblems(100),
        ...within(element['max_selected_items'], 1, 100_000, 'max_selected_items'),
      ];
    default:
      return [`element: ${type as string}`];
  }
}

function textOf(given: unknown, most: number, where: string): string[] {
  const { type, text } = (given ?? {}) as Part;
  const isKnown = type === 'plain_text' || type === 'mrkdwn';
  return isKnown && typeof text === 'string' && text !== ''
    ? longer(text, most, where)
    : [`${where}: no text`];
}

function plain(given: unknown, most: number, where: string): string[] {
  const { type } = (given ?? {}) as Part;
  return type === 'plain_text' ? textOf(given, most, where) : [`${where}: must be plain_text`];
}

function longer(given: unknown, most: number, where: string): string[] {
  return typeof given === 'string' && given.length > most ? [`${where}: more than ${most}`] : [];
}

function isLike(given: unknown, pattern: RegExp): boolean {
  return given === undefined || pattern.test(JSON.stringify(given));
}

function within(given: unknown, least: number, most: number, where: string): string[] {
  if (given === undefined) return [];
  return typeof given === 'number' && given >= least && given <= most ? [] : [where];
}
