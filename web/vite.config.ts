import { defineConfig } from 'vite'
import solid from 'vite-plugin-solid'

export default defineConfig({
  base: '/ui/',
  plugins: [solid()],
  build: {
    target: 'es2023',
    manifest: true,
    // The content security policy takes files of our own, and nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // A busy machine is no news.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
})
