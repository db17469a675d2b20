import { describe, expect, it } from 'vitest';
import { findSuperLinear } from '../../../../scripts/super-linear.mjs';

describe('the lint of regular expressions', () => {
  it.each([
    /^(?:0?1234567890?|9876543210?)+\d*$/,
    /^(?:a|ab|b)*$/,
    /^\s*(\d+\.?\d*|\.\d+)(px|pt)?\s*$/,
    /\s*\n\s*/,
    /\/+$/,
    /<h[1-3].*?<\/h[1-3]>/s,
    /Version\/.*Safari\//,
    /"(?:[^"\\]|\\.)*"|[,:]/,
    /\$\(\w+.*\)/m,
  ])('finds %s', ({ source, flags }) => {
    expect(findSuperLinear(source, flags)).not.toEqual([]);
  });

  it.each([
    /^(?:0?123456789|987654321)\d*$/,
    /^(?:[^"]|"")*$/,
    /\b([a-z]\w*)Encrypted\b/,
    /(?<!\/)\/+$/,
    /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/,
    /"(?:[^"\\]|\\.)*"?/,
    /\s+/,
    /^.{1,100}$/,
    /<[^<>]*>/,
  ])('accepts %s', ({ source, flags }) => {
    expect(findSuperLinear(source, flags)).toEqual([]);
  });
});
