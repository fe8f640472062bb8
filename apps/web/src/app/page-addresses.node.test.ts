import { globSync, readFileSync } from 'node:fs'
import { pagePaths } from '@netlet/contract/pages'
import { expect, test } from 'vitest'

const SOURCES = new URL('..', import.meta.url)

/** Paths up to the first parameter. '/' is part of every other path. */
const paths = Object.values(pagePaths)
  .map(path => path.replace(/\/:.*$/, ''))
  .filter(path => path !== '/')
const written = new RegExp(`['"\`}](${paths.join('|')})(?=['"\`?#/$])`, 'g')

test('no part of the web app writes the address of a page itself: all of them come from one table', () => {
  const files = globSync('{account,admin,app,kit,shop}/**/*.{ts,tsx}', { cwd: SOURCES }).filter(
    file => !/\.(test|fixture)\.tsx?$/.test(file)
  )
  expect(files.length).toBeGreaterThan(250)
  const found = files.flatMap(file =>
    [...readFileSync(new URL(file, SOURCES), 'utf8').matchAll(written)].map(([, path]) => `${file}: ${path}`)
  )
  expect(found).toEqual([])
})
