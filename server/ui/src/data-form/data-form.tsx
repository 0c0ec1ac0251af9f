/** A form for an object, made from the fields of its schema. */
import { useRef, useState, type ReactNode } from 'react';
import { Button } from '../components/button.js';
import { ChoiceFieldView, JsonFieldView, NumberFieldView, TextFieldView } from './controls.js';
import {
  isList,
  isMembers,
  memberOf,
  pointerTo,
  withMember,
  type DataMembers,
  type DataValue,
} from './data-value.js';
import {
  Help,
  Marks,
  Messages,
  MessagesContext,
  useMessages,
  type FieldProps,
} from './field-frame.js';
import type { Field, JsonPart, ListField, ObjectField } from './form-fields.js';
import { canShow, initialMembers, newValue, othersOf } from './form-values.js';
import './data-form.css';

interface DataFormProps {
  readonly form: ObjectField;
  readonly value: DataMembers;
  readonly onChange: (value: DataMembers) => void;
  /** The messages for each field, by its pointer. */
  readonly messages: ReadonlyMap<string, readonly string[]>;
}

export function DataForm({ form, value, onChange, messages }: DataFormProps): ReactNode {
  return (
    <MessagesContext value={messages}>
      <div className="data-form">
        <Messages messages={messages.get('') ?? []} />
        <Members field={form} value={value} pointer="" onChange={onChange} />
      </div>
    </MessagesContext>
  );
}

interface MembersProps {
  readonly field: ObjectField;
  readonly value: DataMembers;
  readonly pointer: string;
  readonly onChange: (value: DataMembers) => void;
}

function Members({ field, value, pointer, onChange }: MembersProps): ReactNode {
  return (
    <>
      {field.members.map((member) => (
        <FieldView
          key={member.name}
          field={member.field}
          name={member.name}
          isRequired={member.isRequired}
          pointer={pointerTo(pointer, member.name)}
          value={memberOf(value, member.name)}
          onChange={(next) => onChange(withMember(value, member.name, next))}
        />
      ))}
      <Others {...{ field, value, pointer, onChange }} />
    </>
  );
}

function FieldView(props: FieldProps): ReactNode {
  const { field, value } = props;
  if (!canShow(field, value)) {
    return <JsonFieldView {...props} note="JSON, because the value has another type" />;
  }
  switch (field.kind) {
    case 'text':
      return <TextFieldView {...props} field={field} />;
    case 'number':
      return <NumberFieldView {...props} field={field} />;
    case 'choice':
      return <ChoiceFieldView {...props} field={field} />;
    case 'list':
      return <ListView {...props} field={field} />;
    case 'object':
      return <ObjectView {...props} field={field} />;
    case 'json':
      return <JsonFieldView {...props} />;
  }
}

function ObjectView(props: FieldProps<ObjectField>): ReactNode {
  const { field, value, pointer, isRequired, onChange } = props;
  return (
    <Group {...props}>
      {isMembers(value) ? (
        <>
          <Members {...{ field, value, pointer, onChange }} />
          {!isRequired && (
            <Button isSmall onPress={() => onChange(undefined)}>
              Remove {field.title}
            </Button>
          )}
        </>
      ) : (
        <Button isSmall onPress={() => onChange(initialMembers(field))}>
          Add {field.title}
        </Button>
      )}
    </Group>
  );
}

/** The frame of a field that contains others. */
function Group({ children, ...props }: FieldProps & { readonly children: ReactNode }): ReactNode {
  const { field, pointer, value, onChange } = props;
  const messages = useMessages(pointer, value);
  return (
    <fieldset className="form-group">
      <legend>
        <bdi>{field.title}</bdi> <Marks {...props} />
      </legend>
      <Help field={field} />
      <Messages messages={messages} />
      {children}
      {field.isNullable && value !== null && (
        <Button isSmall variant="quiet" onPress={() => onChange(null)}>
          Set {field.title} to null
        </Button>
      )}
      {value === null && <p className="hint">The value is null.</p>}
    </fieldset>
  );
}

/** How many more elements of a list are shown at a time. */
const ITEMS_SHOWN = 50;

function ListView(props: FieldProps<ListField>): ReactNode {
  const { field, value, pointer, isRequired, onChange } = props;
  const [shown, setShown] = useState(ITEMS_SHOWN);
  const group = useRef<HTMLDivElement>(null);
  const items = isList(value) ? value : [];
  const setItem = (at: number, item: DataValue | undefined): void =>
    onChange(items.with(at, item ?? newValue(field.item)));
  const remove = (at: number): void => {
    const rest = items.toSpliced(at, 1);
    onChange(rest.length === 0 && !isRequired ? undefined : rest);
    // The button that had the focus disappears.
    group.current?.querySelector<HTMLElement>('.form-add .button')?.focus();
  };
  return (
    <Group {...props}>
      <div ref={group}>
        {items.slice(0, shown).map((item, at) => (
          <div key={at} className="form-item">
            <FieldView
              field={elementOf(field, at)}
              name={elementOf(field, at).title}
              isRequired
              pointer={`${pointer}/${at}`}
              value={item}
              onChange={(next) => setItem(at, next)}
            />
            <Button
              isSmall
              variant="quiet"
              label={`Remove ${field.title} ${at + 1}`}
              onPress={() => remove(at)}
            >
              Remove
            </Button>
          </div>
        ))}
        {items.length > shown && (
          <Button isSmall variant="quiet" onPress={() => setShown(shown + ITEMS_SHOWN)}>
            Show more of {items.length}
          </Button>
        )}
        <div className="form-add">
          <Button
            isSmall
            label={`Add to ${field.title}`}
            onPress={() => {
              setShown((before) => Math.max(before, items.length + 1));
              onChange([...items, newValue(field.item)]);
            }}
          >
            Add
          </Button>
        </div>
      </div>
    </Group>
  );
}

/** The field of an element, with its number as the title. */
function elementOf({ item, title }: ListField, at: number): Field {
  return { ...item, title: `${item.title === 'Item' ? title : item.title} ${at + 1}` };
}

/** The members that the schema does not name, each as JSON. */
function Others({ field, value, pointer, onChange }: MembersProps): ReactNode {
  const [name, setName] = useState('');
  const others = Object.entries(othersOf(field, value));
  if (!field.hasOthers && others.length === 0) return null;
  const isTaken =
    Object.hasOwn(value, name) || field.members.some((member) => member.name === name);
  return (
    <details className="form-others" open={others.length > 0 || undefined}>
      <summary>Other members{others.length > 0 && ` (${others.length})`}</summary>
      {others.map(([other, member]) => (
        <JsonFieldView
          key={other}
          field={jsonPart(other)}
          name={other}
          isRequired={false}
          pointer={pointerTo(pointer, other)}
          value={member}
          onChange={(next) => onChange(withMember(value, other, next ?? newValue(jsonPart(other))))}
          action={
            <Button
              isSmall
              variant="quiet"
              label={`Remove ${other}`}
              onPress={() => onChange(withMember(value, other, undefined))}
            >
              Remove
            </Button>
          }
        />
      ))}
      <div className="form-new-member">
        <label className="field">
          <span>Name of a further member</span>
          <input value={name} spellCheck={false} onChange={({ target }) => setName(target.value)} />
        </label>
        <Button
          isDisabled={name === '' || isTaken}
          onPress={() => {
            onChange(withMember(value, name, newValue(jsonPart(name))));
            setName('');
          }}
        >
          Add member
        </Button>
      </div>
    </details>
  );
}

function jsonPart(title: string): JsonPart {
  return {
    kind: 'json',
    title,
    description: null,
    limits: '',
    isNullable: false,
    defaultValue: undefined,
  };
}
