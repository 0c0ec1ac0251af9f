/**
 * The sandbox boundary itself, without an interpreter: what it allows before it is sealed, and what it denies
 * afterwards.
 */
import { describe, expect, it } from 'vitest';
import { DeniedCall, Gates } from '../../../src/scripts/pyodide/gates.js';
import type { HostFunction, WasmImports } from '../../../src/scripts/pyodide/pyodide-module.js';

declare const WebAssembly: { readonly Module: new (bytes: Uint8Array) => object };

/** A module that imports the function `f` of `env` and does nothing. */
const IMPORTER = new WebAssembly.Module(
  Uint8Array.from([
    0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, 0x01, 0x04, 0x01, 0x60, 0x00, 0x00, 0x02, 0x09,
    0x01, 0x03, 0x65, 0x6e, 0x76, 0x01, 0x66, 0x00, 0x00,
  ]),
);

function install(names: readonly string[], guestCalls: Record<string, HostFunction> = {}) {
  const reached: string[] = [];
  const env = Object.fromEntries(names.map((name) => [name, () => reached.push(name)]));
  const imports: WasmImports = { env, wasi: env };
  const gates = new Gates(new Map(Object.entries(guestCalls)));
  gates.install(imports);
  const call = (name: string): unknown => (imports['env']![name] as () => unknown)();
  return { gates, imports, call, reached };
}

describe('Gates', () => {
  it('allows everything until sealed', () => {
    const { call, reached } = install(['f', '__syscall_openat']);
    call('f');
    call('__syscall_openat');
    expect(reached).toEqual(['f', '__syscall_openat']);
  });

  it('denies everything after that except the calls that the guest may make', () => {
    const { gates, call, reached } = install(['f', 'clock'], { clock: () => 42 });
    gates.seal();
    expect(call('clock')).toBe(42);
    expect(() => call('f')).toThrow(DeniedCall);
    expect(reached).toEqual([]);
    expect(gates.deniedCalls).toBe(1);
    expect(gates.deniedNames).toEqual(['f']);
  });

  it('answers system calls with errors that Python understands', () => {
    const { gates, call } = install(['__syscall_openat', '__syscall_socket', 'fd_read']);
    gates.seal();
    expect(call('__syscall_openat')).toBe(-44);
    expect(gates.deniedCalls).toBe(0);
    expect(call('__syscall_socket')).toBe(-2);
    expect(call('fd_read')).toBe(2);
    expect(gates.deniedNames).toEqual(['__syscall_socket', 'fd_read']);
  });

  it('counts denied calls and records three names', () => {
    const names = ['fd_a', 'fd_b', 'fd_c', 'fd_d'];
    const { gates, call } = install(names);
    gates.seal();
    for (let round = 0; round < 1000; round += 1) names.forEach(call);
    expect(gates.deniedCalls).toBe(4000);
    expect(gates.deniedNames).toEqual(['fd_a', 'fd_b', 'fd_c']);
    gates.forgetDenied();
    expect([gates.deniedCalls, gates.deniedNames]).toEqual([0, []]);
  });

  it('detects whether a module can reach anything else', () => {
    const { gates, imports } = install(['f']);
    expect(() => gates.assertComplete(imports, IMPORTER)).not.toThrow();
    imports['env']!['f'] = () => 'not a gate';
    expect(() => gates.assertComplete(imports, IMPORTER)).toThrow('The import f has no gate');
    expect(() => gates.assertComplete({}, IMPORTER)).toThrow('The import f has no gate');
  });
});
