/** The fields with one control each. */
import { useState, type ReactNode } from 'react';
import { currentZone } from '../components/zone-choice.js';
import {
  Draft,
  isSameData,
  NumberText,
  parseData,
  readNumber,
  writeData,
  type DataValue,
} from './data-value.js';
import { FieldFrame, type ControlAttributes, type FieldProps } from './field-frame.js';
import type { ChoiceField, NumberField, TextField } from './form-fields.js';
import { isDate, localTime, timeOf } from './local-time.js';

/** Clearing a field removes its member; an empty string can be entered as JSON. */
export function TextFieldView(props: FieldProps<TextField>): ReactNode {
  const { field, value, onChange } = props;
  const text = typeof value === 'string' ? value : '';
  const isMissing = typeof value !== 'string';
  // Decided only once, because the control must not change while the user types.
  const [isLong] = useState(field.format === 'lines' || text.includes('\n'));
  const set = (next: string): void => onChange(next === '' ? undefined : next);
  const control = (attributes: ControlAttributes): ReactNode => {
    if (field.format === 'date' && (isMissing || isDate(text))) {
      return (
        <input
          type="date"
          max="9999-12-31"
          value={text}
          {...attributes}
          onChange={({ target }) => set(target.value)}
        />
      );
    }
    if (field.format === 'date-time' && (isMissing || localTime(text) !== null)) {
      return <TimeControl text={text} attributes={attributes} onChange={set} />;
    }
    const shared = {
      ...attributes,
      value: text,
      spellCheck: false,
      onChange: ({ target }: { readonly target: { readonly value: string } }) => set(target.value),
    };
    return isLong ? <textarea rows={3} {...shared} /> : <input {...shared} />;
  };
  return (
    <FieldFrame {...props} {...(field.format === 'date-time' && { note: noteOfTime(text) })}>
      {control}
    </FieldFrame>
  );
}

function noteOfTime(text: string): string {
  const zone = currentZone() === 'UTC' ? 'in UTC' : 'in your time zone';
  return text === '' ? zone : `${text} (${zone} above)`;
}

/** A time in the zone that the user has chosen, for a value in UTC. */
function TimeControl({
  text,
  attributes,
  onChange,
}: {
  readonly text: string;
  readonly attributes: ControlAttributes;
  readonly onChange: (text: string) => void;
}): ReactNode {
  // The browser may format the same time differently; rewriting it would interfere with typing.
  const [written, setWritten] = useState('');
  const shown = timeOf(written) === text ? written : (localTime(text) ?? '');
  return (
    <input
      type="datetime-local"
      step={1}
      max="9999-12-31T23:59:59"
      {...attributes}
      value={shown}
      onChange={({ target }) => {
        setWritten(target.value);
        onChange(timeOf(target.value));
      }}
    />
  );
}

export function NumberFieldView(props: FieldProps<NumberField>): ReactNode {
  const { field, value, onChange } = props;
  const isNumber = value instanceof NumberText || value instanceof Draft;
  return (
    <FieldFrame {...props}>
      {(attributes) => (
        <input
          inputMode={field.isInteger ? 'numeric' : 'decimal'}
          autoComplete="off"
          {...attributes}
          value={isNumber ? value.text : ''}
          onChange={({ target }) =>
            onChange(
              target.value.trim() === '' ? undefined : readNumber(target.value, field.isInteger),
            )
          }
        />
      )}
    </FieldFrame>
  );
}

export function ChoiceFieldView(props: FieldProps<ChoiceField>): ReactNode {
  const { field, value, isRequired, onChange } = props;
  const chosen = field.choices.findIndex((choice) => isSameData(choice.value, value));
  return (
    <FieldFrame {...props}>
      {(attributes) => (
        <select
          {...attributes}
          value={chosen}
          onChange={({ target }) => onChange(field.choices[Number(target.value)]?.value)}
        >
          <option value={-1}>{isRequired ? 'choose …' : 'not set'}</option>
          {field.choices.map(({ label }, at) => (
            <option key={at} value={at}>
              {label}
            </option>
          ))}
        </select>
      )}
    </FieldFrame>
  );
}

/** A part of the data as JSON, for values that the form can't show. */
export function JsonFieldView(
  props: FieldProps & { readonly action?: ReactNode; readonly note?: string },
): ReactNode {
  const { value, onChange, note = 'JSON' } = props;
  const [written, setWritten] = useState('');
  const shown = isSameJson(written, value) ? written : textOf(value);
  return (
    <FieldFrame {...props} note={note}>
      {(attributes) => (
        <textarea
          rows={Math.min(12, Math.max(2, shown.split('\n').length))}
          spellCheck={false}
          {...attributes}
          value={shown}
          onChange={({ target }) => {
            setWritten(target.value);
            onChange(target.value.trim() === '' ? undefined : readPart(target.value));
          }}
        />
      )}
    </FieldFrame>
  );
}

/** Whether the user's text represents the value, so that it isn't replaced by another notation. */
function isSameJson(text: string, value: DataValue | undefined): boolean {
  return text.trim() === '' ? value === undefined : isSameData(readPart(text), value);
}

function readPart(text: string): DataValue {
  try {
    return parseData(text);
  } catch (error) {
    return new Draft(text, error instanceof Error ? error.message : String(error));
  }
}

function textOf(value: DataValue | undefined): string {
  return value === undefined ? '' : writeData(value);
}
