#!/usr/bin/env node
import { runSupplier } from '../dist/index.js';

await runSupplier();
