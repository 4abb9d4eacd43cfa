/** Plain inputs for a flat schema. What they hold is text; the service reads numbers out of it, and checks everything. */
import type { FormEvent } from 'react';
import type { Field, FormSchema, Refused } from './interlude.ts';

interface Props {
  schema: FormSchema;
  errors: Refused['errors'];
  onFilled: (content: Record<string, unknown>) => void;
}

export function QuestionForm({ schema, errors, onFilled }: Props) {
  const fields = Object.entries(schema.properties ?? {});
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    onFilled(Object.fromEntries(fields.map(([name, field]) => [name, valueOf(field, data.getAll(name))])));
  }
  return (
    <form onSubmit={submit}>
      {fields.map(([name, field]) => (
        <label key={name}>
          {field.title ?? name}
          <Input name={name} field={field} required={schema.required?.includes(name) ?? false} />
          <small>{field.description}</small>
          {errors.map((error) => error.pointer === `/content/${name}` && <em key={name}>{error.detail}</em>)}
        </label>
      ))}
      <button>Send answer</button>
    </form>
  );
}

function valueOf({ type, format }: Field, [first, ...others]: FormDataEntryValue[]): unknown {
  if (type === 'boolean') return first !== undefined;
  if (others.length > 0) return [first, ...others];
  const isTime = format === 'date-time' && typeof first === 'string' && first !== '';
  return isTime ? new Date(first).toISOString() : first;
}

const inputTypes = new Map<unknown, string>([
  ['email', 'email'],
  ['uri', 'url'],
  ['date', 'date'],
  ['date-time', 'datetime-local'],
]);

function Input({ name, field, required }: { name: string; field: Field; required: boolean }) {
  const { type, format, default: given, items = field } = field;
  if (type === 'boolean') return <input type="checkbox" name={name} defaultChecked={given === true} />;
  const choices = items.oneOf ?? items.anyOf ?? items.enum?.map((value) => ({ const: value, title: value }));
  const common = { name, required, defaultValue: typeof given === 'boolean' ? undefined : given };
  if (!choices) return <input {...common} type={inputTypes.get(format)} />;
  return (
    <select {...common} multiple={type === 'array'}>
      {type !== 'array' && <option value="" />}
      {choices.map(({ const: value, title = value }) => (
        <option key={value} value={value} children={title} />
      ))}
    </select>
  );
}
