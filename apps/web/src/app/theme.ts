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
  '#fafafa',
  '#f4f4f4',
  '#e5e5e5',
  '#d4d4d4',
  '#c0c0c0',
  '#a3a3a3',
  '#737373',
  '#525252',
  '#343434',
  '#171717'
]

const dark: MantineColorsTuple = [
  '#ededed',
  '#c6c6c6',
  '#a3a3a3',
  '#777777',
  '#3d3d3d',
  '#2e2e2e',
  '#1f1f1f',
  '#161616',
  '#0e0e0e',
  '#0a0a0a'
]

/** Netlet's visual language: one accent, neutral greys, small radii, the type of styles/tokens.css. */
export const theme = createTheme({
  primaryColor: 'lagoon',
  primaryShade: { light: 7, dark: 6 },
  colors: { lagoon, gray, dark },
  black: '#171717',
  fontFamily: 'var(--nl-font)',
  fontFamilyMonospace: 'var(--nl-mono)',
  defaultRadius: 'sm',
  radius: { xs: '3px', sm: '6px', md: '10px', lg: '14px', xl: '20px' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Tabs: { styles: { tab: { justifyContent: 'center' }, tabLabel: { flex: 'none' } } },
    // The dialog's <header> would count as a second banner of the page.
    Modal: {
      defaultProps: { centered: true, radius: 'md', attributes: { header: { role: 'presentation' } } },
      styles: { title: { fontSize: 'var(--nl-size-title)', fontWeight: 600 } }
    }
  }
})

/** Replaces library shades whose contrast is below 4.5. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-lagoon-light-color': lagoon[8],
    '--mantine-color-dimmed': gray[7],
    '--mantine-color-placeholder': '#666666',
    '--mantine-color-error': '#b42318',
    '--mantine-color-default-border': gray[4]
  },
  dark: {
    '--mantine-color-lagoon-light-color': lagoon[3],
    '--mantine-color-dimmed': dark[2],
    '--mantine-color-placeholder': '#969696',
    '--mantine-color-error': '#ff8f85',
    '--mantine-color-default-border': '#454545'
  }
})
