import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core'

const lagoon: MantineColorsTuple = [
  '#e8f7f5',
  '#cdede9',
  '#a0ded7',
  '#6dccc2',
  '#3fb6aa',
  '#1e9a8f',
  '#0e7b72',
  '#0b6860',
  '#08534d',
  '#063f3a'
]

const gray: MantineColorsTuple = [
  '#f6f8f8',
  '#eef2f2',
  '#e2e8e8',
  '#d3dbdb',
  '#bfc9c9',
  '#9ba8a8',
  '#718080',
  '#4c5a5a',
  '#313c3c',
  '#182020'
]

const dark: MantineColorsTuple = [
  '#dbe4e3',
  '#bac6c5',
  '#9aa9a8',
  '#6f7f7e',
  '#374444',
  '#2c3737',
  '#1d2627',
  '#141b1c',
  '#0f1516',
  '#0a0e0f'
]

const sans = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", sans-serif'

/** Netlet's one visual language: one accent, quiet greys that lean towards it, small radii, the system's own type. */
export const theme = createTheme({
  primaryColor: 'lagoon',
  primaryShade: { light: 7, dark: 6 },
  colors: { lagoon, gray, dark },
  black: '#182020',
  fontFamily: sans,
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  defaultRadius: 'sm',
  radius: { xs: '3px', sm: '6px', md: '10px', lg: '14px', xl: '20px' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Tabs: { styles: { tab: { justifyContent: 'center' }, tabLabel: { flex: 'none' } } },
    // Its <header> would count as a second banner of the page.
    Modal: {
      defaultProps: { centered: true, radius: 'md', attributes: { header: { role: 'presentation' } } },
      styles: { title: { fontSize: '1.15rem', fontWeight: 650 } }
    }
  }
})

/** Where the library's own shades fall short of a contrast of 4.5, ours stand instead. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-lagoon-light-color': lagoon[8],
    '--mantine-color-dimmed': gray[7],
    '--mantine-color-placeholder': '#5d6b6b',
    '--mantine-color-error': '#b42318',
    '--mantine-color-default-border': gray[4]
  },
  dark: {
    '--mantine-color-lagoon-light-color': lagoon[3],
    '--mantine-color-dimmed': dark[2],
    '--mantine-color-placeholder': '#8d9c9b',
    '--mantine-color-error': '#ff8f85',
    '--mantine-color-default-border': '#435151'
  }
})
