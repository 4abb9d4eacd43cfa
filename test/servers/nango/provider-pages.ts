/** The page of the provider behind the Nango double, where a person signs in and allows or denies. Plain HTML, no script. */
const head = (title: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>`;

/** Stateless: the parameters of the request come back as hidden fields of the form. */
export function authorizePage(params: URLSearchParams): string {
  const carried = [...params]
    .map(([name, value]) => `<input type="hidden" name="${escape(name)}" value="${escape(value)}">`)
    .join('');
  return `${head('Acme')}<main><h1>Sign in to Acme</h1><form method="post" action="/authorize">${carried}
<fieldset><legend>Who are you?</legend>
<label><input type="radio" name="person" value="alice" checked> Alice</label>
<label><input type="radio" name="person" value="bob"> Bob</label></fieldset>
<p>Asked for: ${escape(params.get('scope') ?? '')}</p>
<button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button>
</form></main></html>`;
}

export function badRequestPage(problem: string): string {
  return `${head('Acme')}<main><h1>This cannot be done</h1><p>${escape(problem)}</p></main></html>`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
