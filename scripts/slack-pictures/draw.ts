/** A state as a page that looks as Slack shows it, near enough to read. Pure. */
import { drawMrkdwn, escapeHtml } from './draw-text.ts';
import type { Shown, State } from './states.ts';

interface Text {
  type: string;
  text: string;
}

/** As far as ours go. */
interface Block {
  type: string;
  block_id?: string;
  text?: Text;
  label?: Text;
  hint?: Text;
  optional?: boolean;
  elements?: (Text & { style?: string; text: Text | string })[];
  element?: Input;
}

interface Input {
  type: string;
  initial_value?: string;
  initial_date?: string;
  multiline?: boolean;
  options?: { text: Text; value: string }[];
  initial_option?: { value: string };
}

interface View {
  type: 'modal' | 'home';
  title?: Text;
  submit?: Text;
  close?: Text;
  blocks: Block[];
}

const drawText = ({ type, text }: Text) =>
  type === 'mrkdwn' ? drawMrkdwn(text) : escapeHtml(text).replaceAll('\n', '<br>');

export function drawState({ messages = [], views = [] }: State): string {
  const drawn = views.map(({ view, errors = {} }) => drawView(view as View, errors));
  return `<!doctype html><meta charset="utf-8"><style>${style}</style><main class="${views.length > 0 ? 'views' : 'thread'}">${[...messages.map(drawMessage), ...drawn].join('')}</main>`;
}

function drawMessage({ by, text, blocks = [], isPrivate = false }: Shown): string {
  const body =
    blocks.length === 0 ? `<div class="text">${drawMrkdwn(text)}</div>` : drawBlocks(blocks as Block[], {});
  const who = `<b>${by}</b>${by === 'Interlude' ? '<small class="app">APP</small>' : ''}<small>14:00</small>`;
  const seen = isPrivate ? '<p class="only">Only visible to you</p>' : '';
  return `<article class="${isPrivate ? 'private' : ''}"><div class="face ${by}">${by[0]?.toUpperCase()}</div><div>${seen}${who}${body}</div></article>`;
}

function drawView({ type, title, submit, close, blocks }: View, errors: Record<string, string>): string {
  const head = title ? `<header>${drawText(title)}<span>×</span></header>` : '';
  const buttons = [close, submit].flatMap((text, index) =>
    text ? [`<button class="${index === 1 ? 'primary' : ''}">${drawText(text)}</button>`] : [],
  );
  const foot = type === 'modal' ? `<footer>${buttons.join('')}</footer>` : '';
  return `<section class="${type}">${head}<div class="body">${drawBlocks(blocks, errors)}</div>${foot}</section>`;
}

function drawBlocks(blocks: Block[], errors: Record<string, string>): string {
  return blocks.map((block) => drawBlock(block, errors[block.block_id ?? ''])).join('');
}

function drawBlock(
  { type, text, label, hint, optional, elements = [], element }: Block,
  error?: string,
): string {
  switch (type) {
    case 'header':
      return `<h2>${text ? drawText(text) : ''}</h2>`;
    case 'section':
      return `<div class="text">${text ? drawText(text) : ''}</div>`;
    case 'context':
      return `<p class="context">${elements.map((one) => drawText(one as Text)).join(' ')}</p>`;
    case 'actions':
      return `<div class="actions">${elements.map(({ style: look, text: words }) => `<button class="${look ?? ''}">${drawText(words as Text)}</button>`).join('')}</div>`;
    case 'input': {
      const below = error === undefined ? (hint ? `<small>${drawText(hint)}</small>` : '') : '';
      const wrong = error === undefined ? '' : `<small class="error">${escapeHtml(error)}</small>`;
      const more = optional === true ? ' <small>(optional)</small>' : '';
      return `<label class="${error === undefined ? '' : 'wrong'}"><b>${label ? drawText(label) : ''}</b>${more}${element ? drawInput(element, error) : ''}${wrong}${below}</label>`;
    }
    default:
      throw new Error(`There is no picture of a block "${type}" yet.`);
  }
}

function drawInput({ type, options, initial_option: initial, ...more }: Input, error?: string): string {
  if (options)
    return options
      .map(
        ({ text, value }) =>
          `<div class="choice"><i class="${value === initial?.value ? 'on' : ''}"></i>${drawText(text)}</div>`,
      )
      .join('');
  const value = error === undefined ? (more.initial_value ?? more.initial_date ?? '') : 'L';
  return `<div class="entry ${more.multiline ? 'tall' : ''} ${type}">${escapeHtml(value)}</div>`;
}

const style = `
* { box-sizing: border-box; margin: 0; }
body { font: 15px/1.46 Lato, "Open Sans", "Noto Sans", sans-serif; color: #1d1c1d; background: #fff; width: max-content; }
main { padding: 16px; display: flex; gap: 16px; align-items: flex-start; }
.thread { width: 620px; flex-direction: column; gap: 14px; }
article { display: flex; gap: 10px; width: 100%; } article > div:last-child { flex: 1; }
article.private { background: #fef9ed; margin: -8px -16px; padding: 8px 16px; width: calc(100% + 32px); }
.only { font-size: 12px; color: #616061; } article p, .text { margin-top: 3px; overflow-wrap: anywhere; }
.face { width: 36px; height: 36px; border-radius: 8px; color: #fff; font-weight: 700; display: grid; place-items: center; }
.face.ally { background: #2f6f5e; } .face.Interlude { background: #4a3f8f; }
small { font-size: 12px; color: #616061; margin-left: 6px; } label > small { margin-left: 0; display: block; } label > b + small { display: inline; margin-left: 4px; }
small.app { background: #e8e8e8; border-radius: 3px; padding: 0 4px; font-size: 10px; font-weight: 700; }
.person { background: #e8f1f8; color: #1264a3; border-radius: 3px; padding: 0 2px; } a { color: #1264a3; }
pre { font: 12px/1.5 "DejaVu Sans Mono", "Liberation Mono", monospace; background: #f8f8f8; border: 1px solid #ddd; border-radius: 4px; padding: 8px; margin: 4px 0; white-space: pre-wrap; overflow-wrap: anywhere; }
pre i { display: inline-block; width: 7.4px; text-align: center; font-style: normal; }
code { font: 12px monospace; color: #c01343; background: #f8f8f8; border: 1px solid #ddd; border-radius: 3px; padding: 1px 3px; }
.actions { display: flex; gap: 8px; margin: 8px 0 2px; }
button { font: 700 13px Lato, "Open Sans", sans-serif; color: #1d1c1d; background: #fff; border: 1px solid #bbb; border-radius: 4px; padding: 6px 12px; }
button.primary { background: #007a5a; border-color: #007a5a; color: #fff; }
.modal, .home { width: 440px; border: 1px solid #ccc; border-radius: 8px; } .home { padding: 0; }
header { font-size: 19px; font-weight: 900; padding: 14px 18px; display: flex; justify-content: space-between; } header span { color: #616061; font-weight: 400; }
.body { padding: 4px 18px 14px; display: grid; gap: 10px; } .home .body { padding: 16px 18px; }
footer { border-top: 1px solid #ddd; padding: 12px 18px; display: flex; justify-content: flex-end; gap: 10px; }
h2 { font-size: 18px; } .context { font-size: 12.5px; color: #616061; }
label { display: block; } .entry { border: 1px solid #999; border-radius: 4px; min-height: 36px; padding: 6px 10px; margin-top: 4px; } .entry.tall { min-height: 60px; }
.wrong .entry { border-color: #c01343; } .error { color: #c01343; }
.choice { display: flex; gap: 8px; align-items: center; margin-top: 6px; } .choice i { width: 16px; height: 16px; border: 1px solid #888; border-radius: 50%; } .choice i.on { border: 5px solid #1264a3; }
`;
