import type { ReactNode } from 'react';
import { Button } from './button.js';
import './secret-field.css';
import { TextField } from './text-field.js';

interface SecretFieldProps {
  /** Null if the stored secret is kept when the field is empty. */
  readonly label: string | null;
  readonly value: string;
  /** Generates a random secret. */
  readonly generate: () => string;
  readonly onChange: (value: string) => void;
}

/** A secret that both sides need and that the server never shows again. */
export function SecretField({ label, value, generate, onChange }: SecretFieldProps): ReactNode {
  return (
    <div className="secret-field">
      <TextField
        label={label ?? 'New secret (leave empty to keep the current one)'}
        isRequired={label !== null}
        value={value}
        onChange={onChange}
      />
      <Button isSmall onPress={() => onChange(generate())}>
        Generate
      </Button>
      <p className="hint">
        The other side needs it, too. Copy it now: the server never shows it again.
      </p>
    </div>
  );
}
