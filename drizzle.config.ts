import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  casing: 'snake_case',
  schema: ['./apps/server/src/domains/**/tables.ts', './apps/server/src/infra/tables.ts'],
  out: './apps/server/migrations'
})
